// Weights of a model wherever they come from: a folder of ours, or one of Hugging Face's.
//
//   const Checkpoint weights = open_weights("Qwen2-0.5B", config);   // under our names
//   convert_weights("ckpt", "for_others", {.to = FolderKind::kHuggingFace});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/nn/huggingface/config.h"
#include "api/nn/models/config.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/merge.h"

namespace phi::nn {

enum class FolderKind : uint8_t { kAutophi, kHuggingFace };

/// "autophi" or "huggingface".
const char* name_of(FolderKind kind);
/// One with a config.json and no model.json is Hugging Face's.
FolderKind kind_of_folder(const std::string& folder);

/// Reads no weights. Errors: InvalidArgument that lists each key of the folder's config that does
/// not fit the model, with both values; as checkpoint::open and huggingface::open. A folder of ours
/// without a model.json is opened as it is.
distributed::checkpoint::Checkpoint open_weights(const std::string& folder,
                                                 const models::ModelConfig& model);

struct Conversion {
  FolderKind to;
  /// Of a folder of ours that has no model.json.
  std::optional<models::ModelConfig> model{};
  /// As which the weights are written for Hugging Face; nothing: as they were, or as
  /// huggingface::architecture_of.
  std::optional<huggingface::Architecture> architecture{};
  int64_t max_file_bytes = distributed::checkpoint::kMaxFileBytes;
};

/// Writes the weights in `from` to the new folder `to`, by one process; dtypes stay.
/// Returns what a person should know (huggingface::Config::notes).
/// Errors: as open_weights, huggingface::write and checkpoint::merge_to_folder; InvalidArgument if
/// nothing says what model a folder of ours is of, or its model.json says something else.
std::vector<std::string> convert_weights(const std::string& from, const std::string& to,
                                         const Conversion& conversion);

}  // namespace phi::nn
