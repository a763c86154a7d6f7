// Folders as Hugging Face's transformers writes them: config.json, and weights in model.safetensors
// or in several files with an index.
//
//   const Folder folder = open("Qwen2-0.5B");
//   Tensor w = shard_tensor(checkpoint::deferred(folder.weights, "layer0.query.weight"), mesh,
//                           {Shard(1)});                    // reads this rank's columns alone
//   write("for_others", {Architecture::kQwen2, folder.config.model}, folder.weights);
#pragma once

#include <cstdint>
#include <string>

#include "api/nn/huggingface/config.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/merge.h"

namespace phi::nn::huggingface {

struct Folder {
  Config config;
  /// Under the names, and in the layouts, of our models. Dtypes are those of the files.
  distributed::checkpoint::Checkpoint weights;
};

/// Has a config.json.
bool is_folder(const std::string& folder);

/// Nothing but headers is read, unless a folder has a head beside the embedding that it is said to
/// be tied to: then both are compared.
/// Errors: as read_config and checkpoint::open; InvalidArgument that lists, under their names, all
/// tensors that are missing (with the nearest name), of another shape, or extra.
Folder open(const std::string& folder);

/// By one process. `weights` are under our names; dtypes stay; the config's dtype is that of
/// token_embedding. See checkpoint::merge_to_folder for the files.
/// Errors: InvalidArgument that lists all that does not fit the config; AlreadyExists; Unavailable.
void write(const std::string& folder, const Config& config,
           const distributed::checkpoint::Checkpoint& weights,
           int64_t max_file_bytes = distributed::checkpoint::kMaxFileBytes);

}  // namespace phi::nn::huggingface
