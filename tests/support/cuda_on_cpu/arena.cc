// Allocates addresses by first fit. mprotect opens and closes the range that was ever used.
#include "support/cuda_on_cpu/arena.h"

#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <cstring>
#include <utility>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

constexpr size_t kAddresses = size_t{1} << 37;  // reserved addresses; pages are committed on use
constexpr size_t kAlignment = 256;              // guaranteed by CUDA
constexpr size_t kRedzone = 256;                // after each allocation
constexpr size_t kGrowth = size_t{1} << 21;     // a huge page, and a multiple of other page sizes
constexpr size_t kGivenBack = size_t{1} << 22;  // pages of larger pieces are returned to the system
constexpr int kNaNByte = 0xff;

size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }
size_t span_of(size_t size) { return rounded(size, kAlignment) + kRedzone; }

#if defined(__SANITIZE_ADDRESS__)
void poison(const std::byte* memory, size_t n) { __asan_poison_memory_region(memory, n); }
void unpoison(const std::byte* memory, size_t n) { __asan_unpoison_memory_region(memory, n); }
#else
void poison(const std::byte*, size_t) {}
void unpoison(const std::byte*, size_t) {}
#endif

}  // namespace

Arena::Arena() {
  void* memory = mmap(nullptr, kAddresses + kGrowth, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("no addresses for the memory of a GPU");
  base_ = reinterpret_cast<std::byte*>(rounded(reinterpret_cast<size_t>(memory), kGrowth));
}

void Arena::grow(size_t used) {
  const size_t before = rounded(used_, kGrowth);
  const size_t now = rounded(used, kGrowth);
  used_ = used;
  if (now == before) return;
  if (now > kAddresses) fail("the addresses of a GPU are used up");
  poison(base_ + before, now - before);
  // Huge pages make opening and closing fast. Their alignment spares the kernel from splitting
  // pages at each change.
  madvise(base_ + before, now - before, MADV_HUGEPAGE);
  if (open_) mprotect(base_ + before, now - before, PROT_READ | PROT_WRITE);
}

std::byte* Arena::reserve(size_t size, const void* pool) {
  const std::lock_guard lock(mutex_);
  const size_t span = span_of(size);
  std::byte* memory = nullptr;
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->second < span) continue;
    memory = gap->first;
    const size_t rest = gap->second - span;
    gaps_.erase(gap);
    if (rest > 0) gaps_.emplace(memory + span, rest);
    break;
  }
  if (memory == nullptr) {
    memory = base_ + used_;
    grow(used_ + span);
  }
  allocations_.emplace(memory, Allocation{memory, size, false, pool});
  return memory;
}

void Arena::begin_life(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  Allocation& allocation = allocations_.at(memory);
  allocation.live = true;
  unpoison(memory, allocation.size);
  std::memset(memory, kNaNByte, allocation.size);
}

bool Arena::give_up(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  return !std::exchange(allocations_.at(memory).given_up, true);
}

void Arena::end_life(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(memory);
  const size_t size = found->second.size;
  if (found->second.live) std::memset(memory, kNaNByte, size);
  if (size >= kGivenBack) {
    madvise(reinterpret_cast<void*>(rounded(reinterpret_cast<size_t>(memory), 4096)),
            (size - 4096) / 4096 * 4096, MADV_DONTNEED);
  }
  poison(memory, size);
  allocations_.erase(found);
  auto [gap, fresh] = gaps_.emplace(memory, span_of(size));
  const auto next = std::next(gap);
  if (next != gaps_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  const auto previous = std::prev(gap);
  if (previous->first + previous->second != gap->first) return;
  previous->second += gap->second;
  gaps_.erase(gap);
}

bool Arena::contains(const void* address) const {
  return address >= base_ && address < base_ + kAddresses;
}

std::optional<Arena::Allocation> Arena::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& found = std::prev(after)->second;
  if (address >= found.begin + found.size && address != found.begin) return std::nullopt;
  return found;
}

void Arena::protect(bool open) {
  const std::lock_guard lock(mutex_);
  if (open == open_) return;
  open_ = open;
  const int protection = open ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (used_ > 0 && mprotect(base_, rounded(used_, kGrowth), protection) != 0) {
    fail("the memory of a GPU cannot be opened or closed");
  }
}

}  // namespace cuda_on_cpu
