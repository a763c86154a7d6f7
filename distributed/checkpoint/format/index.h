// The index of a checkpoint: for each tensor its global shape and dtype, and in which files its
// pieces lie, each a box of the global tensor.
//
//   | {"metadata": {"total_size": 8192, "save": "5f0c...", "step": "100"},
//   |  "weight_map": {"bias": "model-00001-of-00002.safetensors",
//   |                 "w[0:32,0:32]": "model-00001-of-00002.safetensors", ...},
//   |  "tensors": {"w": {"dtype": "F32", "shape": [64, 32], "pieces": [
//   |      {"file": "model-00001-of-00002.safetensors", "name": "w[0:32,0:32]",
//   |       "offset": [0, 0], "size": [32, 32], "sums": "8d1f02a8c2e5b7d1"}, ...]}, ...},
//   |  "headers": {"model-00001-of-00002.safetensors": "c0b1a9e87a2f4d60", ...},
//   |  "block_bytes": 1048576, "checksum": "04d2b1337ee0c9a5"}
//
// sums has 16 digits for each block of a piece's bytes, headers the sum of each file's header, and
// checksum is that of the index itself: of its JSON without this key, compact and with sorted keys
// (storage/checksum.h). An index without any of them is read, too. metadata.total_size and
// weight_map are what other tools know (Hugging Face's sharded checkpoints); weight_map has
// every tensor of every file, pieces under their own names. An index with a weight_map alone is
// read too. "save" is in every file of one save: it tells files of different saves apart. Other
// texts in "metadata" are the user's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phi/core/box.h"
#include "phi/core/meta.h"

namespace phi::distributed::checkpoint {

inline constexpr const char* kIndexFile = "model.safetensors.index.json";
inline constexpr const char* kSingleFile = "model.safetensors";
/// The key of the save's id in the index's metadata and in each file's.
inline constexpr const char* kSaveKey = "save";
/// Keys of metadata that no user has: those above, of other tools, and of a file's header.
inline constexpr std::array<std::string_view, 3> kTakenKeys = {kSaveKey, "total_size", "format"};
bool is_taken(std::string_view key);

struct Piece {
  std::string file;              // in the checkpoint's folder
  std::string name;              // in the file
  Box box;                       // of the global tensor
  std::vector<uint64_t> sums{};  // of the blocks of its bytes; none: nobody has taken them
};

struct IndexedTensor {
  std::string name;
  TensorMeta meta;            // dtype UNDEFINED: only the file knows (weight_map alone)
  std::vector<Piece> pieces;  // in row-major order; each element is in exactly one
};

struct Index {
  std::string save_id;                            // empty if it is not one of ours
  std::vector<IndexedTensor> tensors;             // ordered by name
  std::map<std::string, std::string> metadata{};  // the user's
  std::map<std::string, uint64_t> headers{};      // checksum of each file's header, if known

  std::string encode() const;
  /// Errors: InvalidArgument naming the file and the tensor: bad JSON, wrong types, names of files
  /// that lead out of the folder, pieces that overlap or do not make the whole, checksums that are
  /// not those of what is there.
  static Index decode(std::string_view text, const std::string& path);
};

/// True if the boxes cut a tensor of these dims as a grid does: each tensor dim into consecutive
/// ranges, and each combination of them once. Every save makes such pieces.
bool is_grid(const Dims& global, std::span<const Box> boxes);

}  // namespace phi::distributed::checkpoint
