// The index of a checkpoint: for each tensor its global shape and dtype, and the files of its
// pieces. A piece is a box of the global tensor.
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
// "sums" has 16 digits per block of a piece's bytes, "headers" the checksum of each file's header.
// "checksum" is that of the index itself: of its JSON without this key, compact and with sorted
// keys (storage/checksum.h). All three are optional when an index is read. metadata.total_size and
// weight_map are for other tools (Hugging Face's sharded checkpoints); weight_map has every tensor
// of every file, pieces under their own names. An index with only a weight_map can be read too.
// "save" is in every file of a save and distinguishes files of different saves. Other texts in
// "metadata" are the user's.
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
/// The key of the save's id, in the metadata of the index and of each file.
inline constexpr const char* kSaveKey = "save";
/// Metadata keys reserved for the above, for other tools, and for a file's header.
inline constexpr std::array<std::string_view, 3> kReservedKeys = {kSaveKey, "total_size", "format"};
bool is_reserved(std::string_view key);

struct TensorPiece {
  std::string file;              // in the checkpoint's folder
  std::string name;              // in the file
  Box box;                       // of the global tensor
  std::vector<uint64_t> sums{};  // of the blocks of its bytes; empty: unknown
};

struct IndexedTensor {
  std::string name;
  TensorMeta meta;                  // dtype UNDEFINED: see the file (index with only a weight_map)
  std::vector<TensorPiece> pieces;  // in row-major order; they partition the tensor
};

struct Index {
  std::string save_id;                            // empty if this library did not write it
  std::vector<IndexedTensor> tensors;             // ordered by name
  std::map<std::string, std::string> metadata{};  // the user's
  std::map<std::string, uint64_t> headers{};      // checksum of each file's header, if known

  std::string encode() const;
  /// Errors: InvalidArgument that names the file and the tensor: bad JSON, wrong types, file names
  /// that lead out of the folder, pieces that overlap or leave gaps, wrong checksums.
  static Index decode(std::string_view text, const std::string& path);
};

/// Whether the boxes form a grid: each tensor dim is cut into consecutive ranges, and each
/// combination of ranges occurs once. Every save writes such pieces.
bool is_grid(const Dims& global, std::span<const Box> boxes);

}  // namespace phi::distributed::checkpoint
