// Free lists of blocks, and the system calls that allocate and free them.
#include "phi/core/storage/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "phi/common/process/yield_point.h"

// Null in a program without AddressSanitizer.
extern "C" [[gnu::weak]] void __asan_init();  // NOLINT(bugprone-reserved-identifier): its name

namespace phi {
namespace {

constexpr size_t kBlockAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// Blocks of at least this size are aligned to huge pages and use them: 512 times fewer page faults.
constexpr size_t kHugePageLimit = 2 * kHugePage;
// A cache of up to this size is kept, even if the rank's peak is smaller.
constexpr int64_t kSmallCache = int64_t{64} << 20;

// AddressSanitizer detects a use after free only in memory that was returned to the system, and
// a write out of bounds only in that of malloc. Its runtime is in the program if any part of that
// was built with it.
bool keeps_blocks() { return &__asan_init == nullptr; }

// Blocks of at least this size are mapped, each on its own. On the heap they would split the memory
// that libraries allocate and free in each call (oneDNN packs operands of matmuls), and these would
// obtain fresh memory each time.
constexpr size_t kMappedLimit = size_t{64} << 10;

bool is_mapped(size_t nbytes) { return keeps_blocks() && nbytes >= kMappedLimit; }

// Null if there is no memory.
std::byte* map_memory(void* at, size_t nbytes, int protection, int flags) {
  void* const mapped = mmap(at, nbytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

// Aligned to huge pages: maps within more address space, and returns the rest of that.
std::byte* map_huge_pages(size_t nbytes) {
  const size_t whole = nbytes + kHugePage;
  std::byte* const space = map_memory(nullptr, whole, PROT_NONE, MAP_NORESERVE);
  if (space == nullptr) return nullptr;
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(space) % kHugePage) % kHugePage;
  std::byte* const block = space + before;
  if (before > 0) munmap(space, before);
  munmap(block + nbytes, whole - before - nbytes);
  if (map_memory(block, nbytes, PROT_READ | PROT_WRITE, MAP_FIXED) == nullptr) {
    munmap(block, nbytes);
    return nullptr;
  }
  madvise(block, nbytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

// `nbytes` is the size of a class.
std::byte* system_allocate(size_t nbytes) {
  if (!is_mapped(nbytes))
    return static_cast<std::byte*>(std::aligned_alloc(kBlockAlignment, nbytes));
  if (nbytes >= kHugePageLimit) return map_huge_pages(nbytes);
  return map_memory(nullptr, nbytes, PROT_READ | PROT_WRITE, 0);
}

void system_free(void* block, size_t nbytes) {
  if (is_mapped(nbytes)) {
    munmap(block, nbytes);
  } else {
    std::free(block);
  }
}

// The size of the blocks of a class: the inverse of SizeClass::index.
size_t size_of_class(size_t index) {
  const size_t steps = index % 8 + 1;
  if (index < 8) return steps * 64;
  const size_t base = size_t{1} << (index / 8 + 8);
  return base + steps * (base / 8);
}

}  // namespace

BlockCache::Lock::Lock(const BlockCache& cache) : flag_(cache.locked_) {
  yield_point("block_cache.lock");
  while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
}

std::byte* BlockCache::allocate(size_t nbytes) {
  if (nbytes > SizeClass::kLargestRequest) return nullptr;
  const SizeClass size = SizeClass::of(nbytes);
  std::byte* block = take_cached(size);
  return block ? block : take_fresh(size);
}

std::byte* BlockCache::take_cached(const SizeClass& size) {
  const Lock lock(*this);
  FreeBlock* block = free_[size.index];
  if (!block) return nullptr;
  yield_point("block_cache.take_cached.found");
  free_[size.index] = block->next;
  stats_.cached -= static_cast<int64_t>(size.nbytes);
  peak_used_ = std::max(peak_used_, stats_.reserved - stats_.cached);
  return reinterpret_cast<std::byte*>(block);
}

std::byte* BlockCache::take_fresh(const SizeClass& size) {
  const auto nbytes = static_cast<int64_t>(size.nbytes);
  bool overfull = false;
  {
    const Lock lock(*this);
    overfull = stats_.cached > std::max(kSmallCache, peak_used_);
  }
  yield_point("block_cache.take_fresh.judged");
  // Cached blocks of sizes that no longer occur are released. A program whose sizes repeat never
  // exceeds its own peak, so this does not happen there.
  if (overfull) release();
  std::byte* block = system_allocate(size.nbytes);
  if (!block) {
    release();
    block = system_allocate(size.nbytes);
    if (!block) return nullptr;
  }
  yield_point("block_cache.take_fresh.uncounted");
  const Lock lock(*this);
  stats_.reserved += nbytes;
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
  peak_used_ = std::max(peak_used_, stats_.reserved - stats_.cached);
  return block;
}

void BlockCache::free(std::byte* block, size_t nbytes) {
  const SizeClass size = SizeClass::of(nbytes);
  {
    const Lock lock(*this);
    if (keeps_blocks()) {
      auto* kept = reinterpret_cast<FreeBlock*>(block);
      kept->next = free_[size.index];
      yield_point("block_cache.free.unlisted");
      free_[size.index] = kept;
      stats_.cached += static_cast<int64_t>(size.nbytes);
      return;
    }
    stats_.reserved -= static_cast<int64_t>(size.nbytes);
  }
  system_free(block, size.nbytes);
}

void BlockCache::release() {
  FreeLists lists{};
  {
    const Lock lock(*this);
    lists.swap(free_);
    yield_point("block_cache.release.uncounted");
    stats_.reserved -= stats_.cached;
    stats_.cached = 0;
    peak_used_ = stats_.reserved;
  }
  for (size_t index = 0; index < lists.size(); ++index) {
    for (FreeBlock* block = lists[index]; block != nullptr;) {
      FreeBlock* const next = block->next;
      system_free(block, size_of_class(index));
      block = next;
    }
  }
}

BlockCache::Stats BlockCache::stats() const {
  const Lock lock(*this);
  return stats_;
}

void BlockCache::reset_peak() {
  const Lock lock(*this);
  stats_.peak_reserved = stats_.reserved;
}

}  // namespace phi
