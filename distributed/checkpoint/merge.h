// Writing the tensors of a checkpoint whole, one after the other, by one process: for tools that
// know nothing of pieces. A tensor is never in memory as a whole.
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

/// Of a folder's files, as Hugging Face's tools cut them.
inline constexpr int64_t kMaxFileBytes = 5'000'000'000;

/// One .safetensors file, in place of one that has the name, in one step. Metadata go to its
/// header. Errors: those of reading; Unavailable naming the file.
void merge(const Checkpoint& from, const std::string& path);

/// model.safetensors; or, if that would have more than `max_file_bytes` of tensors, as many files
/// model-00001-of-00002.safetensors as it takes, in alphabetical order of the tensors, and an index
/// with a weight_map. A tensor that is larger has a file of its own. `folder` is made if need be.
/// Errors: AlreadyExists if there are weights in the folder; as merge. No file has its name before
/// all of them are written.
void merge_to_folder(const Checkpoint& from, const std::string& folder,
                     int64_t max_file_bytes = kMaxFileBytes);

/// A checkpoint as save() writes it, whose tensors lie whole in files of at most `max_file_bytes`
/// (as in merge_to_folder): an index with checksums and with the metadata of `from`, in which those
/// in `metadata` take the place of others under their keys. A crash leaves all of it or none.
/// Errors: AlreadyExists if there are weights in the folder, or another job saves there; as merge.
void copy_to_folder(const Checkpoint& from, const std::string& folder,
                    const std::map<std::string, std::string>& metadata = {},
                    int64_t max_file_bytes = kMaxFileBytes);

}  // namespace phi::distributed::checkpoint
