// shard_optimizer: the optimizer of a module's parameters, with states that are split over
// data-parallel ranks (ZeRO) as the module's layout says, or as is said here.
//
//   nn::shard(model, mesh, nn::transformer_layout(model, mesh, {.zero_stage = 1}));
//   Optimizer optimizer = shard_optimizer(model, {.kind = OptimizerKind::kAdamW});
//   loss.backward();
//   optimizer.step(1e-3);
//
// Paddle's shard_optimizer takes an optimizer and a ShardingStage1, 2 or 3; here an optimizer is
// made with the stage, because it makes its states where they belong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/nn/module.h"
#include "api/training/optimizer.h"

namespace phi::training {

/// Of the parameters that are trained, with their groups' decay and rates, in the order of
/// module.named_parameters().
///
/// `zero`   None: the stage and mesh dim of the layout that the model was sharded by, stage 0 for a
///          model without one.
/// Errors   as Optimizer; InvalidArgument for a stage 3 that the layout did not say, or another
///          where it did: nn::shard makes the parameters for it (Layout::zero).
Optimizer shard_optimizer(const nn::Module& module, const OptimizerConfig& config = {},
                          std::optional<ZeroStage> zero = std::nullopt);

/// Names of its parameters, in its order.
std::vector<std::string> optimized_names(const nn::Module& module);

}  // namespace phi::training
