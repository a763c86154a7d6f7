// A row for each key: where layouts and spaces have it, and its text.
#include "distributed/planner/layout_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::distributed {
namespace {

using pipeline::ScheduleKind;
using Texts = std::vector<std::string>;

int64_t number_of(const std::string& value) {
  int64_t out = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, out);
  PHI_CHECK(read.ec == std::errc() && read.ptr == end && out >= 0,
            errors::InvalidArgument("'{}' is not a number.", value));
  return out;
}

template <typename T>
struct ValueText {
  std::function<std::string(T)> text;
  std::function<T(const std::string&)> parse;
};

// Values 0, 1, .. by name.
template <typename T>
ValueText<T> named(Texts names) {
  const auto parse = [names](const std::string& value) {
    const auto found = std::ranges::find(names, value);
    PHI_CHECK(found != names.end(),
              errors::InvalidArgument("'{}' is not among the values of the key: {}.", value,
                                      fmt::join(names, ", ")));
    return static_cast<T>(found - names.begin());
  };
  return {[names](T value) { return names[static_cast<size_t>(value)]; }, parse};
}

template <typename T>
LayoutKey row(std::string_view name, T JobLayout::*own, std::vector<T> LayoutSpace::*list,
              const ValueText<T>& values) {
  const auto allow = [=](const JobLayout& layout, LayoutSpace* space) {
    auto& allowed = space->*list;
    if (std::ranges::find(allowed, layout.*own) == allowed.end()) allowed.push_back(layout.*own);
  };
  const auto allowed = [=](const LayoutSpace& space) {
    Texts texts;
    for (const T value : space.*list) texts.push_back(values.text(value));
    return texts;
  };
  return {name,
          [=](const JobLayout& layout) { return values.text(layout.*own); },
          allow,
          [=](LayoutSpace* space) { (space->*list).clear(); },
          allowed,
          [=](const std::string& value, LayoutSpace* space) {
            (space->*list) = {values.parse(value)};
          }};
}

template <size_t N>
Texts texts_of(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

std::vector<LayoutKey> make_keys() {
  const ValueText<int64_t> number = {[](int64_t value) { return std::to_string(value); },
                                     number_of};
  const ValueText<ScheduleKind> schedule = {
      [](ScheduleKind kind) { return std::string(name_of(kind)); },
      [](const std::string& value) { return pipeline::parse_schedule_kind(value); }};
  return {row("dp", &JobLayout::dp, &LayoutSpace::dp, number),
          row("pp", &JobLayout::pp, &LayoutSpace::pp, number),
          row("tp", &JobLayout::tp, &LayoutSpace::tp, number),
          row("schedule", &JobLayout::schedule, &LayoutSpace::schedules, schedule),
          row("chunks", &JobLayout::chunks, &LayoutSpace::chunks, number),
          row("micro_batches", &JobLayout::micro_batches, &LayoutSpace::micro_batches, number),
          row("zero_stage", &JobLayout::zero_stage, &LayoutSpace::zero_stages,
              named<int>({"0", "1", "2", "3"})),
          row("sequence_parallel", &JobLayout::sequence_parallel, &LayoutSpace::sequence_parallel,
              named<bool>({"false", "true"})),
          row("recompute", &JobLayout::recompute, &LayoutSpace::recompute,
              named<Recompute>(texts_of(kRecomputeNames))),
          row("mesh_order", &JobLayout::order, &LayoutSpace::orders,
              named<MeshOrder>(texts_of(kMeshOrderNames)))};
}

const LayoutKey& key_of(const std::string& text) {
  std::string name = text.substr(0, text.find('='));
  if (name.starts_with("run.")) name = name.substr(4);
  const auto& keys = layout_keys();
  const auto key = std::ranges::find(keys, name, &LayoutKey::name);
  if (key != keys.end() && text.find('=') != std::string::npos) return *key;
  Texts names;
  for (const LayoutKey& each : keys) names.emplace_back(each.name);
  throw errors::InvalidArgument("cannot fix {}: expected KEY=VALUE with one of {}{}", text,
                                fmt::join(names, ", "),
                                key == keys.end() ? did_you_mean(name, names) : ".");
}

void fix(const std::string& text, LayoutSpace* space) {
  const LayoutKey& key = key_of(text);
  const Texts before = key.allowed(*space);
  try {
    key.fix(text.substr(text.find('=') + 1), space);
  } catch (const Error& error) {
    throw errors::InvalidArgument("cannot fix {}: {}", text, error.what());
  }
  PHI_CHECK(before.empty() || before == key.allowed(*space),
            errors::InvalidArgument("cannot fix {}: {} is fixed to {} already; fix a key once.",
                                    text, key.name, fmt::join(before, ", ")));
}

// "tp 1, 2, 4": the values of the key that layouts have if the space allows all.
std::string possible_values(const LayoutKey& key, LayoutSpace space) {
  key.allow_all(&space);
  const auto in_order = [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // of numbers
  };
  std::set<std::string, decltype(in_order)> values;
  for (const JobLayout& layout : all_layouts(space)) values.insert(key.value(layout));
  return values.empty() ? "" : fmt::format("{} {}", key.name, fmt::join(values, ", "));
}

}  // namespace

const std::vector<LayoutKey>& layout_keys() {
  static const std::vector<LayoutKey> keys = make_keys();
  return keys;
}

void fix_keys(const std::vector<std::string>& texts, LayoutSpace* space) {
  for (const std::string& text : texts) fix(text, space);
}

void check_has_layouts(const LayoutSpace& space) {
  if (!all_layouts(space).empty()) return;
  Texts fixed, possible;
  for (const LayoutKey& key : layout_keys()) {
    const Texts allowed = key.allowed(space);
    if (allowed.empty()) continue;
    fixed.push_back(fmt::format("{} {}", key.name, fmt::join(allowed, " or ")));
    std::string values = possible_values(key, space);
    if (!values.empty()) possible.push_back(std::move(values));
  }
  throw errors::InvalidArgument(
      "a job of {} layers and {} samples in a step has no layout on {} devices with {}. {}",
      space.layers, space.global_batch, space.devices, fmt::join(fixed, ", "),
      possible.empty() ? "Fix fewer keys."
                       : fmt::format("With the others as they are, there are layouts with {}.",
                                     fmt::join(possible, "; or with ")));
}

}  // namespace phi::distributed
