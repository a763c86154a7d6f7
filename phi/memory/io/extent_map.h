// ExtentMap: which byte ranges of a file are taken and which are gaps; first fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace phi::memory {

class ExtentMap {
 public:
  /// Where the first gap of `nbytes` begins, else end(). `nbytes` > 0.
  uint64_t take(uint64_t nbytes);
  /// False if no range of these bounds is taken.
  bool give_back(uint64_t offset, uint64_t nbytes);
  /// The taken range that holds this byte, as offset and bytes.
  std::optional<std::pair<uint64_t, uint64_t>> holding(uint64_t offset) const;
  /// Where the last taken range ends.
  uint64_t end() const { return end_; }

 private:
  std::map<uint64_t, uint64_t> taken_;  // offset to bytes
  std::map<uint64_t, uint64_t> gaps_;   // the same; neighbours are merged
  uint64_t end_ = 0;
};

}  // namespace phi::memory
