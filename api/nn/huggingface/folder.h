// Folders in the format of Hugging Face's transformers: config.json, and weights in
// model.safetensors or in several files with an index.
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
  /// Names and layouts are those of this library's models; dtypes are those of the files.
  distributed::checkpoint::Checkpoint weights;
};

/// Whether the folder has a config.json.
bool is_folder(const std::string& folder);

/// Opens a folder and reads only the files' headers. One exception: if the config says that the
/// head is tied but the folder has a head too, both tensors are compared.
/// Errors: as read_config and checkpoint::open; InvalidArgument that lists by name all tensors that
/// are missing (with the nearest name), extra, or of another shape.
Folder open(const std::string& folder);

/// Writes a folder; call it in one process. `weights` have this library's names. Dtypes stay; the
/// config's dtype is that of token_embedding. checkpoint::merge_to_folder describes the files.
/// Errors: InvalidArgument that lists all that does not fit the config; AlreadyExists; Unavailable.
void write(const std::string& folder, const Config& config,
           const distributed::checkpoint::Checkpoint& weights,
           int64_t max_file_bytes = distributed::checkpoint::kMaxFileBytes);

}  // namespace phi::nn::huggingface
