// Scratch memory for kernels, from the rank's block cache (core/storage/block_cache.h). The system
// allocator would return large blocks to the system after each call, and the next call would fault
// in new pages.
//
//   ScratchVector<double> sums(100);  // a std::vector
#pragma once

#include <cstddef>
#include <vector>

namespace phi {

/// Returns 64-byte aligned, uninitialised memory, which the caller returns by free_scratch().
///
/// Errors   std::bad_alloc.
std::byte* allocate_scratch(size_t nbytes);
/// Returns memory of allocate_scratch() to the cache; null is ignored.
void free_scratch(std::byte* scratch);

template <typename T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <typename U>
  explicit(false) ScratchAllocator(const ScratchAllocator<U>&) {}

  T* allocate(size_t n) { return reinterpret_cast<T*>(allocate_scratch(n * sizeof(T))); }
  void deallocate(T* scratch, size_t) { free_scratch(reinterpret_cast<std::byte*>(scratch)); }
  bool operator==(const ScratchAllocator&) const = default;
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace phi
