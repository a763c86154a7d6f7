// PoolTally: the bytes that the memory pool of a GPU provides for requests, without the memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phi/core/storage/block_tally.h"

namespace phi {

/// Largest block that a GPU's device caches by size class (phi/gpu/small_block_cache.h), in bytes.
inline constexpr size_t kLargestCachedBlock = size_t{1} << 20;

/// Blocks that are cached stay blocks of their size class. The memory of larger ones is used again
/// for any size.
class PoolTally {
 public:
  void add(size_t nbytes) {
    if (nbytes <= kLargestCachedBlock) {
      small_.add(nbytes);
    } else {
      large_ += static_cast<int64_t>(nbytes);
    }
    most_ = std::max(most_, small_.obtained() + large_);
  }
  void remove(size_t nbytes) {
    if (nbytes <= kLargestCachedBlock) {
      small_.remove(nbytes);
    } else {
      large_ -= static_cast<int64_t>(nbytes);
    }
  }
  /// Most bytes in blocks at once, in use or cached.
  int64_t most() const { return most_; }

 private:
  BlockTally small_;
  int64_t large_ = 0;
  int64_t most_ = 0;
};

}  // namespace phi
