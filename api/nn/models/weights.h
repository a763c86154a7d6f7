// Models on disk: weights, and beside them what model they are of.
//
//   nn::models::save("ckpt", model);
//   auto same = nn::models::load("ckpt");          // its config read from ckpt/model.json
#pragma once

#include <memory>
#include <string>

#include "api/nn/models/decoder.h"

namespace phi::nn::models {

/// nn::save(), and the model's config in kConfigFile. Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Decoder& model);

/// The saved model, of dtype `dtype`: lay it out with nn::shard(), then each rank reads its part.
/// Errors: NotFound or InvalidArgument for the config; as nn::load().
std::unique_ptr<Decoder> load(const std::string& folder, DataType dtype = DataType::FLOAT32);

}  // namespace phi::nn::models
