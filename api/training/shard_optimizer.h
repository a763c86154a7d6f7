// shard_optimizer: constructs the optimizer of a module. Its states are split over data-parallel
// ranks (ZeRO) by the module's layout or by an argument.
//
//   nn::shard(model, mesh, nn::transformer_layout(model, mesh, {.zero_stage = 1}));
//   Optimizer optimizer = shard_optimizer(model, {.kind = OptimizerKind::kAdamW});
//   loss.backward();
//   optimizer.step(1e-3);
//
// Paddle's shard_optimizer accepts an optimizer and a ShardingStage1, 2 or 3. Here the stage is an
// argument of the construction, so that states are allocated in their final placements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/nn/module.h"
#include "api/training/optimizer.h"

namespace phi::training {

/// An optimizer of the trained parameters, with their groups' decay and rates, in the order of
/// module.named_parameters().
///
/// Input    `zero`: nullopt uses the stage and mesh dim of the layout that sharded the model; stage
///          0 if it is not sharded.
/// Errors   As Optimizer; InvalidArgument if either `zero` or the layout has stage 3 and the other
///          has not, because nn::shard places the parameters for it (Layout::zero).
Optimizer shard_optimizer(const nn::Module& module, const OptimizerConfig& config = {},
                          std::optional<ZeroStage> zero = std::nullopt);

/// Names of the parameters that shard_optimizer() optimises, in its order.
std::vector<std::string> optimized_names(const nn::Module& module);

}  // namespace phi::training
