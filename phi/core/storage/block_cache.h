// BlockCache: a rank's cache of freed host memory blocks, by size class. A repeated training step
// reuses them and obtains no fresh pages from the system.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace phi {

/// The block size to which a request is rounded up. Up to 512 bytes, classes are multiples of 64
/// bytes. Above, each power of two has eight classes, so less than 12.5 % of a block is unused.
struct SizeClass {
  int index = 0;
  size_t nbytes = 0;

  static constexpr size_t kLargestRequest = size_t{1} << 47;
  static constexpr int kCount = 8 * 39;

  /// Returns the class of a request. Requires request <= kLargestRequest.
  static constexpr SizeClass of(size_t request) {
    if (request <= 512) {
      const size_t steps = request == 0 ? 1 : (request + 63) / 64;
      return {static_cast<int>(steps) - 1, steps * 64};
    }
    const auto exponent = static_cast<int>(std::bit_width(request - 1)) - 1;
    const size_t base = size_t{1} << exponent;
    const size_t step = base / 8;
    const size_t steps = (request - 1 - base) / step + 1;
    return {8 * (exponent - 8) + static_cast<int>(steps) - 1, base + steps * step};
  }
};

/// Thread-safe: the thread of another rank may free a storage.
class BlockCache {
 public:
  BlockCache() = default;
  ~BlockCache() { release(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// Returns an uninitialised block, aligned to 64 bytes. If the system has no memory left,
  /// releases the cached blocks and tries once more. Returns null if that fails too, or if
  /// nbytes > SizeClass::kLargestRequest.
  std::byte* allocate(size_t nbytes);
  /// Frees a block that allocate(nbytes) returned.
  void free(std::byte* block, size_t nbytes);
  /// Returns all cached blocks to the system.
  void release();

  struct Stats {
    int64_t reserved = 0;       // bytes obtained from the system: in use and cached
    int64_t peak_reserved = 0;  // maximum of `reserved` since the last reset_peak
    int64_t cached = 0;         // part of `reserved` that is not in use
  };
  Stats stats() const;
  void reset_peak();

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  using FreeLists = std::array<FreeBlock*, SizeClass::kCount>;

  // A spin lock. It is held for a few instructions and almost never contended. A mutex would cost
  // more, on every small tensor.
  class Lock {
   public:
    explicit Lock(const BlockCache& cache);
    ~Lock() { flag_.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  std::byte* take_cached(const SizeClass& size);
  std::byte* take_fresh(const SizeClass& size);

  mutable std::atomic_flag locked_;
  FreeLists free_{};
  Stats stats_;
  int64_t peak_used_ = 0;  // most bytes in use at once; limits the size of the cache
};

}  // namespace phi
