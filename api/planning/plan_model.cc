// Plans of a PlannedModel.
#include "api/planning/plan_model.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/planning/placing/explain_layers.h"
#include "api/planning/plan_text.h"
#include "phi/common/errors.h"

namespace phi::planning {
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
  return {std::move(result), planner.memory_bytes(), std::move(laid_out), planner.rules_of_thumb(),
          std::move(reasons)};
}

std::string json_text(const ModelPlan& plan) { return to_json(plan.result, plan.rules).dump(); }

std::string table(const ModelPlan& plan) {
  std::string out = table(plan.result, plan.memory_bytes, plan.result.plans.size());
  out += table(plan.rules, plan.result.plans.front());
  if (!plan.reasons.empty()) out += "placed along tp:\n" + table(plan.reasons);
  return out;
}

}  // namespace phi::planning
