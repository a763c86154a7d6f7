// Saves and loads the weights of a model: all ranks save together, and any mesh can load.
//
//   nn::save("weights", model);
//   nn::load(checkpoint::open("weights"), &other);      // each rank reads its shards
#pragma once

#include <string>
#include <string_view>

#include "api/nn/module.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn {

/// Saves parameters and buffers under their names. Values that are not finite are refused. Ranks
/// and errors: as checkpoint::save.
void save(const std::string& folder, const Module& model,
          distributed::checkpoint::SaveOptions options = {});

/// Prefix of the optimizer states in a training checkpoint.
inline constexpr std::string_view kOptimizerStates = "optimizer.";
/// A training checkpoint without its optimizer states.
distributed::checkpoint::Checkpoint weights_in(const distributed::checkpoint::Checkpoint& from);

/// Sets every parameter and buffer to the checkpoint's value, converted to the tensor's dtype and
/// in its placements. Values are deferred: each rank reads its shards when they are needed.
/// Errors: as Checkpoint::check, one error for all tensors that are missing, extra, or of another
/// shape; nothing is changed then.
void load(const distributed::checkpoint::Checkpoint& from, Module* model);

}  // namespace phi::nn
