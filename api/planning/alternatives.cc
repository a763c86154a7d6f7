// Plans again without one value of a key.
#include <fmt/format.h>

#include <string_view>

#include "api/planning/plan.h"
#include "distributed/planner/layout_keys.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;

constexpr std::string_view kMeshOrder = "mesh_order";

}  // namespace

std::vector<Alternative> Planner::alternatives_to(const PlannedLayout& plan) {
  const JobLayout& layout = plan.layout;
  const LayoutSpace space = this->space();
  const std::vector<JobLayout> all = all_layouts(space);
  std::vector<Alternative> out;
  for (const distributed::LayoutKey& key : distributed::layout_keys()) {
    if (key.name == kMeshOrder && plan.equals_other_order) continue;
    LayoutSpace other = space;
    key.allow_all(&other);
    size_t others = 0;
    for (const JobLayout& each : all) {
      if (key.value(each) == key.value(layout)) continue;
      key.allow(each, &other);
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
