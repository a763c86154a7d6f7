// The safetensors format (huggingface.co/docs/safetensors): an 8-byte little-endian length, a JSON
// header of that many bytes, then the tensors' bytes, row-major, without holes.
//
//   const auto file = SafetensorsFile::open("model.safetensors");
//   const TensorEntry* w = file->find("w");
//
// Reading trusts no file: every value is checked against the file's size before it is used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/process/mapped_file.h"
#include "phi/core/box.h"
#include "phi/core/meta.h"

namespace phi::distributed::checkpoint {

/// "F32", "BF16", "I64", ...
std::string_view safetensors_name_of(DataType dtype);
/// The inverse; UNDEFINED for a dtype of the format that this library lacks.
DataType dtype_of_safetensors_name(std::string_view name);

/// meta.nbytes(), or nullopt if it overflows.
std::optional<size_t> checked_nbytes(const TensorMeta& meta);

struct TensorEntry {
  std::string name;
  TensorMeta meta;
  size_t begin = 0;  // of its bytes, relative to the end of the header
  size_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;

  /// Sorts the tensors so that each is aligned to its element size, and sets begin and end.
  void lay_out();
  size_t data_bytes() const { return tensors.empty() ? 0 : tensors.back().end; }
  /// Returns the file's bytes up to the first tensor's, whose offset is a multiple of 8. Errors:
  /// InvalidArgument for names that repeat, are not UTF-8, or are "__metadata__".
  std::string encode() const;
  /// `text` is the JSON, `data_bytes` the number of bytes after it in the file `path`. Errors:
  /// InvalidArgument that names the file and the tensor.
  static SafetensorsHeader decode(std::string_view text, size_t data_bytes,
                                  const std::string& path);
};

class SafetensorsFile {
 public:
  /// Errors: those of MappedFile::open and SafetensorsHeader::decode.
  static std::shared_ptr<const SafetensorsFile> open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const SafetensorsHeader& header() const { return header_; }
  /// Null if there is no such tensor.
  const TensorEntry* find(const std::string& name) const;

  /// Checksum of the file up to its tensors' bytes (storage/checksum.h).
  uint64_t header_checksum() const { return header_checksum_; }
  /// Checksum of the bytes [begin, end) of an entry. Errors: those of read().
  uint64_t checksum(const TensorEntry& entry, size_t begin, size_t end) const;

  /// Copies `region` of an entry that holds `box` to an array that holds `out_box`, in the entry's
  /// dtype. All boxes use the coordinates of one tensor. Errors: Unavailable if the file has become
  /// shorter.
  void read(const TensorEntry& entry, const Box& box, const Box& region, void* out,
            const Box& out_box) const;

 private:
  SafetensorsFile() = default;

  std::shared_ptr<const MappedFile> file_;
  SafetensorsHeader header_;
  size_t data_begin_ = 0;
  uint64_t header_checksum_ = 0;
  std::map<std::string, size_t> positions_;  // in header_.tensors
};

}  // namespace phi::distributed::checkpoint
