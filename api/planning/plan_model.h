// plan_model: lays out a model of one's own, which need not say how it is split, over devices.
//
//   const ModelToPlan net{.make = [] { return std::make_shared<Net>(64); },
//                         .loss = nn::cross_entropy,
//                         .batch = {ids, labels}};
//   const ModelPlan plan = plan_model(net, /*devices=*/16, find_machine("h100_80g"));
//   Net model(64);
//   nn::shard(model, plan.laid_out.mesh, plan.laid_out.layout);
//   training::Trainer trainer(model, nn::cross_entropy, plan.laid_out.options);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/planning/plan.h"
#include "api/planning/planned_model.h"

namespace phi::planning {

struct ModelPlan {
  PlanResult result;  // with one plan or more
  int64_t memory_bytes = 0;
  ModelLayout laid_out;            // of the first plan
  std::vector<RuleOfThumb> rules;  // that they are compared with
  std::vector<Reason> reasons;     // of the placements along tp; none if its extent is 1
};

/// Chooses dp, pp and tp, whose product is `devices`, the placements along tp (place_layers), the
/// cut, schedule, ZeRO stage, recomputation and number of micro-batches. `fixed`: its lists are the
/// values that may be chosen.
/// Errors: ResourceExhausted if nothing fits, with rank and bytes, or the model has none of the
/// layouts; those of PlannedModel.
ModelPlan plan_model(const ModelToPlan& model, int64_t devices,
                     const distributed::simulator::MachineModel& machine,
                     const PlannerOptions& options = {},
                     const distributed::LayoutSpace& fixed = {});

/// {"plans": [{"layout": .., "predicted": .., ..}, ..], ..}
std::string json_text(const ModelPlan& plan);

/// The plans, fastest first, rules of thumb, and the reasons for the placements of the first, in
/// one line where they are equal for "block0.up.weight", "block1.up.weight", ..
std::string table(const ModelPlan& plan);

}  // namespace phi::planning
