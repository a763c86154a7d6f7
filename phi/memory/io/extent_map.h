// ExtentMap: a first-fit allocator of byte ranges of a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace phi::memory {

class ExtentMap {
 public:
  /// Allocates `nbytes` > 0 in the first gap that is large enough, otherwise at end(). Returns the
  /// offset.
  uint64_t take(uint64_t nbytes);
  /// Frees a range. Returns false if exactly this range is not allocated.
  bool give_back(uint64_t offset, uint64_t nbytes);
  /// The allocated range that contains byte `offset`, as offset and size.
  std::optional<std::pair<uint64_t, uint64_t>> holding(uint64_t offset) const;
  /// End of the last allocated range.
  uint64_t end() const { return end_; }

 private:
  std::map<uint64_t, uint64_t> taken_;  // from offset to size
  std::map<uint64_t, uint64_t> gaps_;   // the same; adjacent gaps are merged
  uint64_t end_ = 0;
};

}  // namespace phi::memory
