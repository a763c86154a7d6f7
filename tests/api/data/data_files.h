// Small files of token ids, of every kind, in a folder of the test's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/phi/memory/scratch_folder.h"

namespace phi::data {

template <typename T>
void append(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) append(&bytes, value);
  return bytes;
}

// An .idx, field by field, each of which a test may make wrong.
struct IndexFields {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t code = 8;  // uint16
  uint64_t num_sequences = 0;
  uint64_t num_entries = 0;
  std::vector<int32_t> lengths{};
  std::vector<int64_t> pointers{};
  std::vector<int64_t> documents{};
  std::string rest{};

  std::string bytes() const {
    std::string out = magic;
    append(&out, version);
    append(&out, code);
    append(&out, num_sequences);
    append(&out, num_entries);
    return out + bytes_of(lengths) + bytes_of(pointers) + bytes_of(documents) + rest;
  }
};

/// documents: the lengths of each one's sequences.
inline IndexFields index_fields(const std::vector<std::vector<int32_t>>& documents,
                                uint8_t code = 8, int64_t item = 2) {
  IndexFields fields{.code = code, .documents = {0}};
  int64_t pointer = 0;
  for (const auto& document : documents) {
    for (const int32_t length : document) {
      fields.lengths.push_back(length);
      fields.pointers.push_back(pointer);
      pointer += length * item;
    }
    fields.documents.push_back(static_cast<int64_t>(fields.lengths.size()));
  }
  fields.num_sequences = fields.lengths.size();
  fields.num_entries = fields.documents.size();
  return fields;
}

class DataFolder : public memory::ScratchFolder {
 public:
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  template <typename T>
  std::string write_ids(const std::string& name, const std::vector<T>& ids) const {
    return write(name, bytes_of(ids));
  }
  /// A pair of uint16 files whose ids are 0, 1, 2, ... from `first` on; gives its prefix.
  std::string write_megatron(const std::string& name,
                             const std::vector<std::vector<int32_t>>& documents,
                             uint16_t first = 0) const {
    write(name + ".idx", index_fields(documents).bytes());
    std::vector<uint16_t> ids;
    for (const auto& document : documents) {
      for (const int32_t length : document) {
        for (int32_t i = 0; i < length; ++i) ids.push_back(first++);
      }
    }
    write_ids(name + ".bin", ids);
    return file(name);
  }
};

}  // namespace phi::data
