// Receipt: the checksums of the file that a rank has written in a save, for the index. Rank 0 reads
// it from a small file next to the data, because no messages are sent while training continues.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace phi::distributed::checkpoint {

struct Receipt {
  uint64_t header = 0;                                // checksum of the file's header
  std::map<std::string, std::vector<uint64_t>> sums;  // per tensor in the file, of its blocks

  std::string encode() const;
  /// Nullopt while the text is incomplete.
  static std::optional<Receipt> decode(std::string_view text);
  /// Reads a receipt file. Nullopt if it does not exist, is incomplete, or was removed again: a
  /// rank whose save fails may remove it at any time. Errors: those of reading.
  static std::optional<Receipt> find(const std::string& path);
};

}  // namespace phi::distributed::checkpoint
