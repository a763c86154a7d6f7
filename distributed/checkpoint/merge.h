// Writes the tensors of a checkpoint unsharded, from one process, for tools that do not support
// pieces. No tensor is ever in memory as a whole.
//
//   merge(open("ckpt"), "whole.safetensors");
//   merge_to_folder(open("ckpt"), "for_others");
//   copy_to_folder(open("whole.safetensors"), "ckpt");      // with checksums
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "distributed/checkpoint/checkpoint.h"

namespace phi::distributed::checkpoint {

/// Default size limit of a file in a folder, that of Hugging Face's tools.
inline constexpr int64_t kMaxFileBytes = 5'000'000'000;

/// Writes one .safetensors file, which atomically replaces an existing one. Its header contains the
/// metadata. Errors: those of reading; Unavailable that names the file.
void merge(const Checkpoint& from, const std::string& path);

/// Writes model.safetensors to `folder`, which is created if necessary. If its tensors would exceed
/// `max_file_bytes`, writes several files model-00001-of-00002.safetensors, ... in alphabetical
/// order of the tensors, and an index with a weight_map. A larger tensor gets a file of its own. No
/// file gets its name before all files are written. Errors: AlreadyExists if the folder contains
/// weights; those of merge.
void merge_to_folder(const Checkpoint& from, const std::string& folder,
                     int64_t max_file_bytes = kMaxFileBytes);

/// Writes a checkpoint in the format of save(), with unsharded tensors in files of at most
/// `max_file_bytes` (as in merge_to_folder). Its index has checksums, and the metadata of `from`
/// overridden by `metadata`. A crash leaves either the complete checkpoint or none. Errors:
/// AlreadyExists if the folder contains weights, or another job saves there; those of merge.
void copy_to_folder(const Checkpoint& from, const std::string& folder,
                    const std::map<std::string, std::string>& metadata = {},
                    int64_t max_file_bytes = kMaxFileBytes);

}  // namespace phi::distributed::checkpoint
