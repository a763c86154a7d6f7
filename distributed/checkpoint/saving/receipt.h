// What a rank tells of the file that it has written in a save: checksums for the index. Rank 0
// finds it as a small file beside the data, for nothing is sent while training goes on.
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
  std::map<std::string, std::vector<uint64_t>> sums;  // of the blocks of each tensor in it, by name

  std::string encode() const;
  /// Nothing while not all of it has come.
  static std::optional<Receipt> decode(std::string_view text);
  /// That of a file; nothing where it is not, not yet whole, or gone again: a rank whose save fails
  /// takes it back at any time. Errors: of reading.
  static std::optional<Receipt> find(const std::string& path);
};

}  // namespace phi::distributed::checkpoint
