// SmallBlocks: small pieces of a GPU's memory that tensors gave back, for the next ones of their
// size. Two calls of the driver for each tensor take the host longer than a launch, and a kernel of
// small tensors is done before.
//
// Who takes a block queues its work behind that of who gave it back: both are on one stream, as
// with the driver's pool.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include "phi/core/storage/block_cache.h"

namespace phi::gpu {

/// Safe to use from any thread.
class SmallBlocks {
 public:
  /// Bytes of the largest block that is kept; larger ones keep the GPU busy for longer than the
  /// driver takes.
  static constexpr size_t kLargest = size_t{1} << 20;
  /// Bytes that are kept at most.
  static constexpr size_t kMost = size_t{64} << 20;

  /// Keeps none where the environment variable AUTOPHI_GPU_MEMORY is `pool`, as compute-sanitizer
  /// wants it, which sees uses after a free by the driver's calls; the other word is `blocks`.
  /// Errors: InvalidArgument for another word.
  SmallBlocks();

  /// What an allocation of `nbytes` takes of the pool: more, where its block may be kept.
  size_t rounded(size_t nbytes) const {
    return keeps_blocks_ && nbytes <= kLargest ? SizeClass::of(nbytes).nbytes : nbytes;
  }
  /// A block for `nbytes`; null where none is kept.
  std::byte* take(size_t nbytes);
  /// Whether it keeps a block of rounded(nbytes), which then is its own.
  bool keep(std::byte* block, size_t nbytes);
  /// All that it keeps, which it keeps no longer.
  std::vector<std::byte*> release();
  /// Bytes that it keeps.
  size_t nbytes() const;

 private:
  std::array<std::vector<std::byte*>, SizeClass::of(kLargest).index + 1> blocks_;
  size_t nbytes_ = 0;
  bool keeps_blocks_;
  mutable std::mutex mutex_;
};

}  // namespace phi::gpu
