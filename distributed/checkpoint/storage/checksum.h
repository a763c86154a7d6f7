// Checksums of data on disk: of each block of kBlockBytes of a piece (the last may be shorter), and
// of texts. They detect flipped bits, zeros, and bytes from another position
// (phi/memory/io/page_checksum).
//
//   BlockChecksums sums;
//   sums.add(bytes);  part.write(bytes);             // and so on
//   const std::vector<uint64_t> of_blocks = sums.finish();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phi/memory/plan/page.h"

namespace phi::distributed::checkpoint {

inline constexpr size_t kBlockBytes = 1 << 20;

constexpr size_t num_blocks(size_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

/// The checksum of all bytes as one block. It only copies from `bytes`, so it may read a mapped
/// file (MappedFile::access).
uint64_t checksum(std::span<const std::byte> bytes);
uint64_t checksum(std::string_view text);

/// Checksums of data that arrives in parts.
class BlockChecksums {
 public:
  void add(std::span<const std::byte> bytes);
  /// One checksum per block; none for empty data.
  std::vector<uint64_t> finish();

 private:
  void add_page(const std::byte* page);
  void end_block();

  std::array<std::byte, memory::kPage> page_;  // the page that is not full yet
  size_t in_page_ = 0;
  size_t in_block_ = 0;  // bytes of whole pages
  uint64_t sum_ = 0;
  std::vector<uint64_t> sums_;
};

/// 16 hexadecimal digits each, concatenated.
std::string encode_sums(std::span<const uint64_t> sums);
std::optional<std::vector<uint64_t>> decode_sums(std::string_view text);

}  // namespace phi::distributed::checkpoint
