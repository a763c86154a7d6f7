// BlockTally: the bytes of the blocks that a BlockCache obtains for requests, without the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phi/core/storage/block_cache.h"

namespace phi {

/// A cache that keeps every freed block has as many blocks of a size class as were in use at once.
/// One that releases blocks has at most as many.
class BlockTally {
 public:
  void add(size_t nbytes) {
    const SizeClass size = SizeClass::of(nbytes);
    Blocks& blocks = blocks_[size.index];
    if (++blocks.used <= blocks.most) return;
    blocks.most = blocks.used;
    obtained_ += static_cast<int64_t>(size.nbytes);
  }
  void remove(size_t nbytes) { --blocks_[SizeClass::of(nbytes).index].used; }
  /// Bytes of all blocks that the cache has obtained.
  int64_t obtained() const { return obtained_; }

 private:
  struct Blocks {
    int64_t used = 0;
    int64_t most = 0;
  };
  std::array<Blocks, SizeClass::kCount> blocks_{};
  int64_t obtained_ = 0;
};

}  // namespace phi
