// Pinned host memory: allocated from the heap, so that AddressSanitizer checks it, or registered by
// the caller.
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"

namespace cuda_on_cpu {
namespace {

constexpr size_t kPage = 4096;

std::mutex pinned_mutex;
std::map<const std::byte*, size_t> pinned;
std::set<const std::byte*> registered;  // subset of `pinned` that the caller owns

}  // namespace

bool is_pinned(const void* address) {
  const std::lock_guard lock(pinned_mutex);
  auto after = pinned.upper_bound(static_cast<const std::byte*>(address));
  if (after == pinned.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address < begin + size;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaHostAlloc(void** memory, size_t size, unsigned flags) {
  return call([&] {
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped;
    *memory = nullptr;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if (size == 0) return cudaSuccess;
    *memory = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
    if (*memory == nullptr) return cudaErrorMemoryAllocation;
    const std::lock_guard lock(pinned_mutex);
    pinned.emplace(static_cast<std::byte*>(*memory), size);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** memory, size_t size) {
  return cudaHostAlloc(memory, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* memory) {
  return call([&] {
    if (memory == nullptr) return cudaSuccess;
    const std::lock_guard lock(pinned_mutex);
    if (registered.contains(static_cast<std::byte*>(memory))) return cudaErrorInvalidValue;
    if (pinned.erase(static_cast<std::byte*>(memory)) == 0) return cudaErrorInvalidValue;
    std::free(memory);
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* memory, size_t size, unsigned flags) {
  return call([&] {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if ((flags & ~kKnown) != 0 || memory == nullptr || size == 0) return cudaErrorInvalidValue;
    const auto* const begin = static_cast<std::byte*>(memory);
    const std::lock_guard lock(pinned_mutex);
    const auto after = pinned.upper_bound(begin);
    const bool overlaps =
        (after != pinned.end() && after->first < begin + size) ||
        (after != pinned.begin() && std::prev(after)->first + std::prev(after)->second > begin);
    if (overlaps) return cudaErrorHostMemoryAlreadyRegistered;
    pinned.emplace(begin, size);
    registered.insert(begin);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return call([&] {
    const std::lock_guard lock(pinned_mutex);
    if (registered.erase(static_cast<std::byte*>(memory)) == 0) {
      return cudaErrorHostMemoryNotRegistered;
    }
    pinned.erase(static_cast<std::byte*>(memory));
    return cudaSuccess;
  });
}
