// Models on disk: weights, and beside them what model they are of.
//
//   nn::models::save("ckpt", model);
//   auto same = nn::models::load("ckpt");          // its config read from ckpt/model.json
//
// The config is in the checkpoint's metadata, too, under kModelKey: weights of a model with other
// heads may have the same shapes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/nn/models/config.h"
#include "api/nn/models/decoder.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn::models {

inline constexpr const char* kModelKey = "model";

/// What tells of which model a checkpoint's weights are.
std::map<std::string, std::string> metadata_of(const ModelConfig& config);

/// Errors: InvalidArgument with each key and both values if the checkpoint says that its weights
/// are of another model (see differences()). One that does not say is taken.
void check_model(const distributed::checkpoint::Checkpoint& from, const ModelConfig& wanted);

/// nn::save(), and the model's config in kConfigFile and in the metadata, beside those of
/// `options`. Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Decoder& model,
          distributed::checkpoint::SaveOptions options = {});

/// The saved model, of dtype `dtype`: lay it out with nn::shard(), then each rank reads its part.
/// Errors: NotFound or InvalidArgument for the config; as check_model() and nn::load().
std::unique_ptr<Decoder> load(const std::string& folder, DataType dtype = DataType::FLOAT32);

}  // namespace phi::nn::models
