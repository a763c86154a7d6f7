// Weights of a model on disk: saved by all ranks together, loaded on any mesh.
//
//   nn::save("weights", model);
//   nn::load(checkpoint::open("weights"), &other);      // each rank reads its shards
#pragma once

#include <string>

#include "api/nn/module.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn {

/// Parameters and buffers under their names. Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Module& model,
          const distributed::checkpoint::SaveOptions& options = {});

/// Every parameter and buffer gets the checkpoint's value, converted to its dtype and laid out as
/// it is; it is read when it is needed, by each rank its part. Errors: as Checkpoint::check (one
/// error for all that is missing, extra, or of another shape); nothing is changed then.
void load(const distributed::checkpoint::Checkpoint& from, Module* model);

}  // namespace phi::nn
