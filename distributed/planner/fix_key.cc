// Keys of layouts that can be fixed, a row each.
#include "distributed/planner/fix_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::distributed {
namespace {

int64_t number_of(const std::string& text, const std::string& value) {
  int64_t out = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, out);
  PHI_CHECK(read.ec == std::errc() && read.ptr == end && out >= 0,
            errors::InvalidArgument("cannot fix {}: '{}' is not a number.", text, value));
  return out;
}

int64_t index_of(const std::string& text, const std::string& value,
                 std::vector<std::string> values) {
  const auto found = std::ranges::find(values, value);
  PHI_CHECK(found != values.end(),
            errors::InvalidArgument("cannot fix {}: '{}' is not among the values of the key: {}.",
                                    text, value, fmt::join(values, ", ")));
  return found - values.begin();
}

// A key that can be fixed.
struct FixedKey {
  std::string name;
  std::function<void(const std::string& text, const std::string& value, LayoutSpace*)> set;
};

FixedKey number_key(std::string name, std::vector<int64_t> LayoutSpace::*values) {
  return {std::move(name),
          [values](const std::string& text, const std::string& value, LayoutSpace* space) {
            (space->*values) = {number_of(text, value)};
          }};
}

const std::vector<FixedKey>& fixed_keys() {
  using Text = const std::string&;
  static const std::vector<FixedKey> keys = {
      number_key("dp", &LayoutSpace::dp),
      number_key("pp", &LayoutSpace::pp),
      number_key("tp", &LayoutSpace::tp),
      number_key("chunks", &LayoutSpace::chunks),
      number_key("micro_batches", &LayoutSpace::micro_batches),
      {"schedule",
       [](Text, Text value, LayoutSpace* space) {
         space->schedules = {pipeline::parse_schedule_kind(value)};
       }},
      {"zero_stage",
       [](Text text, Text value, LayoutSpace* space) {
         space->zero_stages = {static_cast<int>(index_of(text, value, {"0", "1", "2", "3"}))};
       }},
      {"sequence_parallel",
       [](Text text, Text value, LayoutSpace* space) {
         space->sequence_parallel = {index_of(text, value, {"false", "true"}) == 1};
       }},
      {"recompute",
       [](Text text, Text value, LayoutSpace* space) {
         space->recompute = {static_cast<Recompute>(
             index_of(text, value, {kRecomputeNames.begin(), kRecomputeNames.end()}))};
       }},
      {"mesh_order", [](Text text, Text value, LayoutSpace* space) {
         space->orders = {static_cast<MeshOrder>(
             index_of(text, value, {kMeshOrderNames.begin(), kMeshOrderNames.end()}))};
       }}};
  return keys;
}

}  // namespace

void fix_key(const std::string& text, LayoutSpace* space) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.starts_with("run.")) name = name.substr(4);
  const auto& keys = fixed_keys();
  const auto key = std::ranges::find(keys, name, &FixedKey::name);
  if (equals == std::string::npos || key == keys.end()) {
    std::vector<std::string> names;
    for (const FixedKey& each : keys) names.push_back(each.name);
    throw errors::InvalidArgument("cannot fix {}: expected KEY=VALUE with one of {}{}", text,
                                  fmt::join(names, ", "),
                                  key == keys.end() ? did_you_mean(name, names) : ".");
  }
  key->set(text, text.substr(equals + 1), space);
}

}  // namespace phi::distributed
