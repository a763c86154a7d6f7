// BlockCache: host memory blocks that stay with their rank after use, for the next storage of the
// same size class, so that a step of training does not pay the system for fresh pages again.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace phi {

/// The size that a request is rounded up to: eight classes per power of two, so that less than
/// 12.5 % of a block above 512 bytes is unused.
struct SizeClass {
  int index = 0;
  size_t nbytes = 0;

  static constexpr size_t kLargestRequest = size_t{1} << 47;
  static constexpr int kCount = 8 * 39;

  /// The class of a request of up to kLargestRequest bytes.
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

/// Safe to use from any thread: a storage may be freed by another rank's.
class BlockCache {
 public:
  BlockCache() = default;
  ~BlockCache() { release(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// 64-byte aligned, not initialised. When the system has no memory left, the cached blocks are
  /// given back and it is asked again; null if that does not help.
  std::byte* allocate(size_t nbytes);
  /// Takes back what allocate(nbytes) gave.
  void free(std::byte* block, size_t nbytes);
  /// Gives all cached blocks back to the system.
  void release();

  struct Stats {
    int64_t reserved = 0;       // bytes taken from the system: in use and cached
    int64_t peak_reserved = 0;  // most of them at once since the last reset_peak
    int64_t cached = 0;         // those of them that no storage uses
  };
  Stats stats() const;
  void reset_peak();

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  using FreeLists = std::array<FreeBlock*, SizeClass::kCount>;

  // Held for a few instructions and nearly always by the rank's own thread: a mutex costs twice as
  // much there, which every small tensor would pay.
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
  int64_t peak_used_ = 0;  // most bytes in use at once: what the cache may hold
};

}  // namespace phi
