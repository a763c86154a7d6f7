// Plans of a PlannedModel.
#include "api/planning/plan_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/planning/plan_text.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

// "block12.up.weight" -> "block*.up.weight"
std::string without_numbers(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (!out.ends_with('*')) {
      out += '*';
    }
  }
  return out;
}

// A line for all that differ in the numbers of their names alone, in the order of the first.
std::vector<std::pair<std::string, size_t>> folded(const std::vector<Reason>& reasons) {
  std::vector<std::pair<std::string, size_t>> lines;
  for (Reason reason : reasons) {
    reason.name = without_numbers(reason.name);
    const std::string line = reason.to_string();
    const auto known = std::ranges::find(lines, line, &std::pair<std::string, size_t>::first);
    if (known == lines.end()) {
      lines.emplace_back(line, 1);
    } else {
      ++known->second;
    }
  }
  return lines;
}

}  // namespace

ModelPlan plan_model(const ModelToPlan& model, int64_t devices,
                     const distributed::simulator::MachineModel& machine,
                     const PlannerOptions& options, const distributed::LayoutSpace& fixed) {
  const PlannedModel subject(model, devices, machine, options.memory_bytes, fixed);
  Planner planner(subject, machine, options);
  PlanResult result = planner.plan();
  PHI_CHECK(!result.plans.empty(),
            errors::ResourceExhausted("plan_model: {}", fault(result, planner.memory_bytes())));
  const distributed::JobLayout& best = result.plans.front().layout;
  ModelLayout laid_out = subject.layout_of(best);
  std::vector<Reason> reasons;
  if (best.tp > 1) reasons = subject.placed(best.tp).reasons;
  return {std::move(result), planner.memory_bytes(), std::move(laid_out), std::move(reasons)};
}

std::string table(const ModelPlan& plan) {
  std::string out = table(plan.result, plan.memory_bytes, plan.result.plans.size());
  if (!plan.reasons.empty()) out += "placed along tp:\n";
  for (const auto& [line, count] : folded(plan.reasons))
    out += fmt::format("  {}{}\n", line, count > 1 ? fmt::format(" ({} of them)", count) : "");
  return out;
}

}  // namespace phi::planning
