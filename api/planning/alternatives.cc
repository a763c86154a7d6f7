// Plans again without one value of a key.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "api/planning/plan.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;

constexpr std::string_view kMeshOrder = "mesh_order";

// A key of layouts: its value as text, and how a space allows the value of one layout.
struct LayoutKey {
  std::string_view name;
  std::function<std::string(const JobLayout&)> value;
  std::function<void(LayoutSpace&, const JobLayout&)> allow;
  std::function<void(LayoutSpace&)> clear;
};

template <typename T>
void add_once(std::vector<T>* list, const T& value) {
  if (std::ranges::find(*list, value) == list->end()) list->push_back(value);
}

// A row for a member of both structures.
template <typename T>
LayoutKey key(std::string_view name, T JobLayout::*own, std::vector<T> LayoutSpace::*allowed,
              std::function<std::string(T)> text) {
  return {name, [=](const JobLayout& layout) { return text(layout.*own); },
          [=](LayoutSpace& space, const JobLayout& layout) {
            add_once(&(space.*allowed), layout.*own);
          },
          [=](LayoutSpace& space) { (space.*allowed).clear(); }};
}

std::vector<LayoutKey> layout_keys() {
  const auto number = [](int64_t value) { return std::to_string(value); };
  return {
      key<int64_t>("dp", &JobLayout::dp, &LayoutSpace::dp, number),
      key<int64_t>("pp", &JobLayout::pp, &LayoutSpace::pp, number),
      key<int64_t>("tp", &JobLayout::tp, &LayoutSpace::tp, number),
      key<distributed::pipeline::ScheduleKind>(
          "schedule", &JobLayout::schedule, &LayoutSpace::schedules,
          [](auto kind) { return std::string(name_of(kind)); }),
      key<int64_t>("micro_batches", &JobLayout::micro_batches, &LayoutSpace::micro_batches, number),
      key<int>("zero_stage", &JobLayout::zero_stage, &LayoutSpace::zero_stages,
               [](int stage) { return std::to_string(stage); }),
      key<bool>("sequence_parallel", &JobLayout::sequence_parallel, &LayoutSpace::sequence_parallel,
                [](bool on) { return std::string(on ? "true" : "false"); }),
      key<distributed::Recompute>("recompute", &JobLayout::recompute, &LayoutSpace::recompute,
                                  [](auto recompute) { return std::string(name_of(recompute)); }),
      key<distributed::MeshOrder>(kMeshOrder, &JobLayout::order, &LayoutSpace::orders,
                                  [](auto order) { return std::string(name_of(order)); })};
}

}  // namespace

std::vector<Alternative> Planner::alternatives_to(const PlannedLayout& plan) {
  const JobLayout& layout = plan.layout;
  const LayoutSpace space = this->space();
  const std::vector<JobLayout> all = all_layouts(space);
  std::vector<Alternative> out;
  for (const LayoutKey& key : layout_keys()) {
    if (key.name == kMeshOrder && plan.equals_other_order) continue;
    LayoutSpace other = space;
    key.clear(other);
    size_t others = 0;
    for (const JobLayout& each : all) {
      if (key.value(each) == key.value(layout)) continue;
      key.allow(other, each);
      ++others;
    }
    if (others == 0) continue;
    const PlanResult result = this->plan(other);
    if (result.plans.empty()) {
      out.push_back({fmt::format("{} other than {}", key.name, key.value(layout))});
      continue;
    }
    const PlannedLayout& best = result.plans.front();
    out.push_back({fmt::format("{} {}", key.name, key.value(best.layout)), best});
  }
  if (options_.searches_placements && subject_.can_search_placements(layout)) {
    const bool is_searched = layout.has_searched_placements;
    out.push_back(
        {is_searched ? "placements declared" : "placements searched", with_other_placements(plan)});
  }
  return out;
}

}  // namespace phi::planning
