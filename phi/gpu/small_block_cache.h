// SmallBlockCache: a cache of small freed blocks of GPU memory, by size. Allocating and freeing a
// small tensor through the driver costs the host more than a launch.
//
// A reused block is safe without a wait because both its users queue their work on the compute
// stream.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include "phi/core/storage/block_cache.h"
#include "phi/core/storage/pool_tally.h"

namespace phi::gpu {

/// Thread-safe.
class SmallBlockCache {
 public:
  /// Largest block that is cached, in bytes. The work on larger ones hides the cost of the driver's
  /// calls.
  static constexpr size_t kLargest = kLargestCachedBlock;
  /// Upper limit of the cached bytes.
  static constexpr size_t kMost = size_t{64} << 20;

  /// Reads the environment variable AUTOPHI_GPU_MEMORY: `blocks` enables the cache (default), and
  /// `pool` disables it. compute-sanitizer needs `pool`, because it detects a use after free by the
  /// driver's calls. Errors: InvalidArgument for another value.
  SmallBlockCache();

  /// The size to allocate for `nbytes`: rounded up to its size class if the block can be cached.
  size_t rounded(size_t nbytes) const {
    return keeps_blocks_ && nbytes <= kLargest ? SizeClass::of(nbytes).nbytes : nbytes;
  }
  /// Removes and returns a cached block for `nbytes`; null if there is none.
  std::byte* take(size_t nbytes);
  /// Caches a block of rounded(nbytes) bytes and takes ownership, or returns false.
  bool keep(std::byte* block, size_t nbytes);
  /// Empties the cache and returns its blocks; the caller owns them.
  std::vector<std::byte*> release();
  /// Cached bytes.
  size_t nbytes() const;

 private:
  std::array<std::vector<std::byte*>, SizeClass::of(kLargest).index + 1> blocks_;
  size_t nbytes_ = 0;
  bool keeps_blocks_;
  mutable std::mutex mutex_;
};

}  // namespace phi::gpu
