// Opens and converts weights of a model, in this library's format or in Hugging Face's.
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
/// kHuggingFace for a folder with a config.json and without a model.json.
FolderKind kind_of_folder(const std::string& folder);

/// Opens a folder's weights without reading them. A folder in our format without a model.json is
/// opened without comparison.
/// Errors: InvalidArgument that lists each key of the folder's config that differs from the
/// model's, with both values; as checkpoint::open and huggingface::open.
distributed::checkpoint::Checkpoint open_weights(const std::string& folder,
                                                 const models::ModelConfig& model);

struct Conversion {
  FolderKind to;
  /// Config for a folder in our format that has no model.json.
  std::optional<models::ModelConfig> model{};
  /// Target architecture for Hugging Face; nothing: the source's, or else
  /// huggingface::architecture_of.
  std::optional<huggingface::Architecture> architecture{};
  int64_t max_file_bytes = distributed::checkpoint::kMaxFileBytes;
};

/// Writes the weights in `from` to the new folder `to`; call it in one process. Dtypes stay.
/// Returns messages for the user (huggingface::Config::notes).
/// Errors: as open_weights, huggingface::write and checkpoint::merge_to_folder; InvalidArgument if
/// the config of a folder in our format is unknown, or its model.json differs from the given one.
std::vector<std::string> convert_weights(const std::string& from, const std::string& to,
                                         const Conversion& conversion);

}  // namespace phi::nn
