// Rules of thumb, as orders in which layouts are tried: the first one that fits is the choice.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "api/planning/plan.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;
using distributed::pipeline::ScheduleKind;

// Layouts that differ in what a rule does not speak of are tried in this order: the least
// recomputation and ZeRO, then the smallest micro-batches; and stages are far apart, as Megatron-LM
// has them (Narayanan et al. 2021).
auto common_order(const JobLayout& layout) {
  const bool is_usual = layout.order == distributed::MeshOrder::kPpOutside;
  return std::tuple(layout.recompute, layout.zero_stage, -layout.micro_batches, !is_usual);
}

std::vector<JobLayout> in_order(const LayoutSpace& space,
                                const std::function<bool(const JobLayout&)>& has,
                                const std::function<int64_t(const JobLayout&)>& first) {
  const auto& allowed = space.sequence_parallel;
  const bool can_split = allowed.empty() || std::ranges::find(allowed, true) != allowed.end();
  std::vector<JobLayout> out;
  for (const JobLayout& layout : all_layouts(space)) {
    const bool is_plain = layout.schedule == ScheduleKind::k1F1B;
    const bool splits_all = layout.tp == 1 || layout.sequence_parallel || !can_split;
    if (is_plain && splits_all && has(layout)) out.push_back(layout);
  }
  std::ranges::stable_sort(out, {}, [&](const JobLayout& layout) {
    return std::pair(first(layout), common_order(layout));
  });
  return out;
}

}  // namespace

std::vector<RuleOfThumb> Planner::rules_of_thumb() {
  const LayoutSpace space = this->space();
  const int64_t node = machine_.links.empty() || machine_.links.front().size == 0
                           ? space.devices
                           : machine_.links.front().size;
  return {first_fitting("data parallel with ZeRO",
                        in_order(
                            space, [](const JobLayout& l) { return l.pp == 1 && l.tp == 1; },
                            [](const JobLayout&) { return 0; })),
          first_fitting(
              "tensor parallel in a node, then pipeline until it fits",
              in_order(
                  space, [&](const JobLayout& l) { return l.tp <= node && l.zero_stage <= 1; },
                  [&](const JobLayout& l) { return l.pp - l.tp * space.devices; })),
          first_fitting("as little model parallelism as fits",
                        in_order(
                            space, [](const JobLayout& l) { return l.zero_stage <= 1; },
                            [](const JobLayout& l) { return l.pp * l.tp; }))};
}

}  // namespace phi::planning
