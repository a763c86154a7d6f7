// MegatronIndex: the .idx file of a .bin of Megatron-LM's indexed datasets, memory-mapped.
//
// Little-endian, without gaps, as written by _IndexWriter of
// megatron/core/datasets/indexed_dataset.py (NVIDIA/Megatron-LM) and MMapIndexedDataset of its
// older versions:
//   | 9 bytes       "MMIDIDX\0\0"
//   | uint64        version, 1
//   | uint8         dtype of the ids: 1 uint8, 2 int8, 3 int16, 4 int32, 5 int64, 8 uint16 (6 and 7
//   |               are floats)
//   | uint64        number of sequences S
//   | uint64        number D of entries of the last array: documents + 1
//   | int32[S]      tokens of each sequence
//   | int64[S]      byte of the .bin where it begins: where the one before it ends
//   | int64[D]      the sequence with which each document begins; the first is 0, the last S
// Multimodal datasets append int8[S], the mode of each sequence; they are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "api/data/token_type.h"
#include "phi/common/process/mapped_file.h"

namespace phi::data {

class MegatronIndex {
 public:
  /// Reads the header and the ends of the arrays, and checks them against the size of the .bin.
  /// Errors: InvalidArgument naming the file and the mismatch; NotFound.
  static std::shared_ptr<const MegatronIndex> open(const std::string& path, int64_t bin_bytes);

  TokenType type() const { return type_; }
  int64_t num_sequences() const { return num_sequences_; }
  int64_t num_documents() const { return num_documents_; }
  int64_t num_tokens() const { return bin_bytes_ / size_of(type_); }
  /// Size of the index file.
  int64_t num_bytes() const { return static_cast<int64_t>(file_->size()); }

  /// Reads the whole index once, in order.
  /// Errors: InvalidArgument naming the first sequence or document that does not begin where the
  /// previous one ends.
  void check_entries() const;

  /// Ends of documents first, first + 1, ..., in tokens.
  /// Errors: Unavailable if the file has changed since it was checked.
  void document_ends(int64_t first, std::span<int64_t> ends) const;

 private:
  MegatronIndex() = default;
  void read_header();
  void lay_out_arrays();
  void check_ends() const;
  void check_sequences() const;
  void check_documents() const;
  template <typename T>
  T value(int64_t at) const;
  template <typename T>
  void read(int64_t at, std::span<T> out) const;

  std::shared_ptr<const MappedFile> file_;
  int64_t bin_bytes_ = 0;
  TokenType type_ = TokenType::kUint16;
  int64_t num_sequences_ = 0;
  int64_t num_documents_ = 0;
  // Byte offsets of the arrays in the file.
  int64_t lengths_ = 0;
  int64_t pointers_ = 0;
  int64_t documents_ = 0;
};

}  // namespace phi::data
