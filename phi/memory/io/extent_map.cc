// First fit, and merging of gaps. A gap at the end is removed, and end() decreases.
#include "phi/memory/io/extent_map.h"

#include <algorithm>
#include <iterator>

namespace phi::memory {

uint64_t ExtentMap::take(uint64_t nbytes) {
  const auto gap =
      std::find_if(gaps_.begin(), gaps_.end(), [&](const auto& g) { return g.second >= nbytes; });
  uint64_t offset = end_;
  if (gap == gaps_.end()) {
    end_ += nbytes;
  } else {
    offset = gap->first;
    const uint64_t left = gap->second - nbytes;
    gaps_.erase(gap);
    if (left > 0) gaps_.emplace(offset + nbytes, left);
  }
  taken_.emplace(offset, nbytes);
  return offset;
}

bool ExtentMap::give_back(uint64_t offset, uint64_t nbytes) {
  const auto range = taken_.find(offset);
  if (range == taken_.end() || range->second != nbytes) return false;
  taken_.erase(range);
  auto gap = gaps_.emplace(offset, nbytes).first;
  const auto after = std::next(gap);
  if (after != gaps_.end() && after->first == offset + nbytes) {
    gap->second += after->second;
    gaps_.erase(after);
  }
  if (gap != gaps_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == offset) {
      before->second += gap->second;
      gaps_.erase(gap);
      gap = before;
    }
  }
  if (gap->first + gap->second == end_) {
    end_ = gap->first;
    gaps_.erase(gap);
  }
  return true;
}

std::optional<std::pair<uint64_t, uint64_t>> ExtentMap::holding(uint64_t offset) const {
  auto after = taken_.upper_bound(offset);
  if (after == taken_.begin()) return std::nullopt;
  const auto [begin, nbytes] = *std::prev(after);
  if (offset >= begin + nbytes) return std::nullopt;
  return std::pair{begin, nbytes};
}

}  // namespace phi::memory
