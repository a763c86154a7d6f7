// Weights of a model on disk: saved by all ranks together, loaded on any mesh.
//
//   nn::save("weights", model);
//   nn::load(checkpoint::open("weights"), &other);      // each rank reads its shards
#pragma once

#include <string>
#include <string_view>

#include "api/nn/module.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn {

/// Parameters and buffers under their names. Numbers that are not finite are no values to keep, so
/// they are refused. Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Module& model,
          distributed::checkpoint::SaveOptions options = {});

/// Of the names that a training's checkpoint has beside the model's own.
inline constexpr std::string_view kOptimizerStates = "optimizer.";
/// What is left of a training's checkpoint without its optimizer states.
distributed::checkpoint::Checkpoint weights_in(const distributed::checkpoint::Checkpoint& from);

/// Every parameter and buffer gets the checkpoint's value, converted to its dtype and laid out as
/// it is; it is read when it is needed, by each rank its part. Errors: as Checkpoint::check (one
/// error for all that is missing, extra, or of another shape); nothing is changed then.
void load(const distributed::checkpoint::Checkpoint& from, Module* model);

}  // namespace phi::nn
