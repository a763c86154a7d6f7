// Plans as text and as JSON.
#include "api/planning/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/planning/mesh_orders.h"
#include "phi/common/readable_numbers.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using nlohmann::ordered_json;

constexpr bool is_limit(int64_t bytes) { return bytes != std::numeric_limits<int64_t>::max(); }

std::string memory_of(const PlannedLayout& plan, int64_t memory_bytes) {
  std::string out = human_bytes(plan.peak_bytes);
  if (is_limit(memory_bytes)) out += fmt::format(" of {}", human_bytes(memory_bytes));
  return out + fmt::format(" (rank {})", plan.fullest_rank);
}

std::string utilisation_of(const PlannedLayout& plan) {
  const auto& at_peak = plan.predicted->at_peak;
  if (!at_peak) return "";
  return fmt::format("  {:4.1f} %", 100 * at_peak->model_seconds / plan.predicted->step_seconds);
}

std::string note_of_equal_mesh(const PlannedLayout& plan) {
  if (!plan.equals_other_order) return "";
  return fmt::format("  same as mesh_order {}", name_of(other_order(plan.layout.order)));
}

size_t width_of(const std::vector<PlannedLayout>& plans, size_t top) {
  size_t width = 0;
  for (size_t i = 0; i < std::min(top, plans.size()); ++i)
    width = std::max(width, to_string(plans[i].layout).size());
  return width;
}

// "+1.2 s"
std::string more_seconds(const PlannedLayout& plan, const PlannedLayout& best) {
  return fmt::format("{:+.3g} s",
                     1e-9 * static_cast<double>(plan.nanoseconds() - best.nanoseconds()));
}

// The kind of time by which two plans differ most, on the rank of each that computes longest; empty
// for equally fast ones.
std::string largest_part(const PlannedLayout& plan, const PlannedLayout& best) {
  if (plan.nanoseconds() == best.nanoseconds()) return "";
  const auto parts = [](const PlannedLayout& each) {
    const auto& ranks = each.predicted->ranks;
    const auto slowest =
        std::ranges::max_element(ranks, {}, &simulation::RankPrediction::compute_seconds);
    return std::array{std::pair("computation", slowest->compute_seconds),
                      std::pair("communication", slowest->exposed_seconds),
                      std::pair("waiting for other stages", slowest->bubble_seconds)};
  };
  const auto own = parts(plan);
  const auto other = parts(best);
  size_t largest = 0;
  const auto more = [&](size_t i) { return own[i].second - other[i].second; };
  for (size_t i = 1; i < own.size(); ++i) {
    if (more(i) > more(largest)) largest = i;
  }
  if (more(largest) <= 0) return "";
  return fmt::format(", {} {:+.3g} s", own[largest].first, more(largest));
}

}  // namespace

std::string table(const PlanResult& result, int64_t memory_bytes, size_t top) {
  std::string out;
  const size_t width = width_of(result.plans, top);
  for (size_t i = 0; i < std::min(top, result.plans.size()); ++i) {
    const PlannedLayout& plan = result.plans[i];
    out += fmt::format("{:>3}  {:<{}}  {:>7.4g} s{}  {}{}\n", i + 1, to_string(plan.layout), width,
                       plan.predicted->step_seconds, utilisation_of(plan),
                       memory_of(plan, memory_bytes), note_of_equal_mesh(plan));
  }
  return out;
}

size_t undecided(const PlanResult& result, double error) {
  if (result.plans.empty()) return 0;
  const double most = result.plans.front().predicted->step_seconds * (1 + error);
  const auto decided = std::ranges::find_if(
      result.plans, [&](const PlannedLayout& plan) { return plan.predicted->step_seconds > most; });
  return static_cast<size_t>(decided - result.plans.begin());
}

std::string table(const std::vector<RuleOfThumb>& rules, const PlannedLayout& best) {
  std::string out = "rules of thumb:\n";
  for (const RuleOfThumb& rule : rules) {
    if (!rule.planned) {
      out += fmt::format("  {}: {}\n", rule.rule,
                         rule.is_complete ? "no such layout is possible and fits"
                                          : "not reached within the time limit");
      continue;
    }
    out += fmt::format(
        "  {}: {}, {} ({:+.1f} %)\n", rule.rule, to_string(rule.planned->layout),
        more_seconds(*rule.planned, best),
        100 * (rule.planned->predicted->step_seconds / best.predicted->step_seconds - 1));
  }
  return out;
}

std::string table(const std::vector<Alternative>& alternatives, const PlannedLayout& best) {
  std::string out;
  for (const Alternative& alternative : alternatives) {
    if (!alternative.planned) {
      out += fmt::format("why not {}: nothing fits\n", alternative.change);
      continue;
    }
    out += fmt::format(
        "why not {}: {}{}  ({})\n", alternative.change, more_seconds(*alternative.planned, best),
        largest_part(*alternative.planned, best), to_string(alternative.planned->layout));
  }
  return out;
}

std::string fault(const PlanResult& result, int64_t memory_bytes) {
  if (result.too_large.empty()) {
    std::string out =
        result.is_complete
            ? fmt::format("none of {} layouts is possible:", result.layouts)
            : "no layout that was simulated within the time limit is possible; allow more time:";
    for (const RefusedLayouts& refused : result.refused)
      out += fmt::format("\n  {} layouts, such as {}: {}", refused.count, to_string(refused.first),
                         refused.reason);
    return out;
  }
  const std::string none =
      result.is_complete
          ? fmt::format("none of {} possible layouts fits into {} of a rank. The smallest is",
                        result.possible, human_bytes(memory_bytes))
          : fmt::format(
                "no layout that was simulated within the time limit fits into {} of a "
                "rank; allow more time. The smallest of them is",
                human_bytes(memory_bytes));
  const TooLargeLayout& least = result.too_large.front();
  return fmt::format(
      "{} {}: rank {} needs {}, {} more ({}). Use devices with more memory, more "
      "devices, or a smaller run.global_batch.",
      none, to_string(least.layout), least.rank, human_bytes(least.bytes),
      human_bytes(least.bytes - memory_bytes), simulation::to_string(least.held));
}

ordered_json to_json(const JobLayout& layout) {
  return {{"dp", layout.dp},
          {"pp", layout.pp},
          {"tp", layout.tp},
          {"schedule", name_of(layout.schedule)},
          {"chunks", layout.chunks},
          {"micro_batches", layout.micro_batches},
          {"zero_stage", layout.zero_stage},
          {"sequence_parallel", layout.sequence_parallel},
          {"recompute", name_of(layout.recompute)},
          {"cut", layout.cut},
          {"mesh_order", name_of(layout.order)},
          {"placements", layout.has_searched_placements ? "searched" : "declared"}};
}

ordered_json to_json(const PlanResult& result, const std::vector<RuleOfThumb>& rules) {
  const auto plan_json = [](const PlannedLayout& plan) {
    ordered_json json = {{"layout", to_json(plan.layout)},
                         {"estimated_seconds", plan.estimate.seconds},
                         {"estimated_bytes", plan.estimate.bytes},
                         {"peak_tensor_bytes", plan.peak_bytes},
                         {"fullest_rank", plan.fullest_rank},
                         {"predicted", simulation::to_json(*plan.predicted)}};
    if (plan.equals_other_order) json["equal_meshes"] = {name_of(other_order(plan.layout.order))};
    if (plan.measured_seconds > 0) json["measured_seconds"] = plan.measured_seconds;
    return json;
  };
  ordered_json plans = ordered_json::array();
  for (const PlannedLayout& plan : result.plans) plans.push_back(plan_json(plan));
  ordered_json thumbs = ordered_json::array();
  for (const RuleOfThumb& rule : rules) {
    thumbs.push_back({{"rule", rule.rule}});
    if (rule.planned) thumbs.back()["plan"] = plan_json(*rule.planned);
  }
  ordered_json refused = ordered_json::array();
  for (const RefusedLayouts& each : result.refused)
    refused.push_back({{"reason", each.reason}, {"layouts", each.count}});
  return {{"plans", std::move(plans)},     {"rules_of_thumb", std::move(thumbs)},
          {"refused", std::move(refused)}, {"layouts", result.layouts},
          {"possible", result.possible},   {"estimated", result.estimated},
          {"simulated", result.simulated}, {"complete", result.is_complete}};
}

}  // namespace phi::planning
