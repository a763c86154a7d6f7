// Checksums of what lies on disk: of each block of kBlockBytes of a piece, the last one shorter,
// and of texts. They see a flipped bit, zeros, and bytes of another place
// (phi/memory/io/page_checksum).
//
//   BlockChecksums sums;
//   for (...) { sums.add(bytes); part.write(bytes); }
//   piece.sums = sums.finish();
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

/// Of all the bytes, as of one block. Only copies: it may read a mapped file (MappedFile::access).
uint64_t checksum(std::span<const std::byte> bytes);
uint64_t checksum(std::string_view text);

/// Of bytes that come in parts.
class BlockChecksums {
 public:
  void add(std::span<const std::byte> bytes);
  /// One for each block; none of no bytes.
  std::vector<uint64_t> finish();

 private:
  void add_page(const std::byte* page);
  void end_block();

  std::array<std::byte, memory::kPage> page_;  // that is not full yet
  size_t in_page_ = 0;
  size_t in_block_ = 0;  // of whole pages
  uint64_t sum_ = 0;
  std::vector<uint64_t> sums_;
};

/// 16 hexadecimal digits each, one after the other.
std::string encode_sums(std::span<const uint64_t> sums);
std::optional<std::vector<uint64_t>> decode_sums(std::string_view text);

}  // namespace phi::distributed::checkpoint
