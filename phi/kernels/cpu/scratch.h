// Scratch memory of kernels, from the rank's cache of blocks (core/storage/block_cache.h): the
// system's allocator would give what is large back after each call, and have the next one pay for
// fresh pages.
//
//   ScratchVector<double> sums(100);  // a std::vector
#pragma once

#include <cstddef>
#include <vector>

namespace phi {

/// 64-byte aligned, not initialised. Errors: std::bad_alloc.
std::byte* take_scratch(size_t nbytes);
/// What take_scratch() gave; null too.
void give_scratch_back(std::byte* scratch);

template <typename T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <typename U>
  explicit(false) ScratchAllocator(const ScratchAllocator<U>&) {}

  T* allocate(size_t n) { return reinterpret_cast<T*>(take_scratch(n * sizeof(T))); }
  void deallocate(T* scratch, size_t) { give_scratch_back(reinterpret_cast<std::byte*>(scratch)); }
  bool operator==(const ScratchAllocator&) const = default;
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace phi
