// Saves and loads models: weights, with the model's config next to them.
//
//   nn::models::save("ckpt", model);
//   auto same = nn::models::load("ckpt");          // its config read from ckpt/model.json
//
// The checkpoint's metadata has the config too, under kModelKey, because weights of models with
// different numbers of heads may have the same shapes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/nn/models/config.h"
#include "api/nn/models/decoder.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn::models {

inline constexpr const char* kModelKey = "model";

/// Checkpoint metadata that identifies the model.
std::map<std::string, std::string> metadata_of(const ModelConfig& config);

/// Checks that a checkpoint's weights belong to a model like `wanted`. A checkpoint without a
/// config passes.
/// Errors: InvalidArgument with each key and both values (see differences()).
void check_model(const distributed::checkpoint::Checkpoint& from, const ModelConfig& wanted);

/// Calls nn::save(), and writes the model's config to kConfigFile and to the metadata, in addition
/// to the metadata of `options`. Ranks and errors: as checkpoint::save.
void save(const std::string& folder, const Decoder& model,
          distributed::checkpoint::SaveOptions options = {});

/// Constructs the saved model with dtype `dtype`. Its parameters are deferred: shard it with
/// nn::shard(), then each rank reads its shards.
/// Errors: NotFound or InvalidArgument for the config; as check_model() and nn::load().
std::unique_ptr<Decoder> load(const std::string& folder, DataType dtype = DataType::FLOAT32);

}  // namespace phi::nn::models
