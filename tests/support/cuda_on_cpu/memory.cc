// GPU memory outside of pools, and the kind of memory of an address.
#include "support/cuda_on_cpu/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/settings.h"
#include "support/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {

std::optional<Arena::Allocation> to_free(Gpu* device, const void* memory) {
  const auto found = device == nullptr ? std::nullopt : device->arena.find(memory);
  if (!found || found->begin != memory) return std::nullopt;
  return found;
}

void drop_if_over(Gpu& device, CUmemPoolHandle_st* pool) {
  if (!pool->destroyed || pool->used != 0) return;
  device.pooled -= pool->reserved;
  delete pool;
}

void end_life(Gpu& device, const Arena::Allocation& allocation) {
  device.arena.end_life(allocation.begin);
  const std::lock_guard lock(device.mutex);
  if (allocation.pool == nullptr) {
    device.plain -= allocation.size;
  } else {
    auto* pool = static_cast<CUmemPoolHandle_st*>(const_cast<void*>(allocation.pool));
    pool->used -= allocation.size;
    drop_if_over(device, pool);
  }
}

void check_alive(const std::string& what, const Gpu& device, const void* memory) {
  const auto found = device.arena.find(memory);
  if (found && found->live) return;
  fail(
      fmt::format("{} of GPU {} uses memory that is not allocated where it runs in the order of "
                  "streams",
                  what, device.index));
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaMalloc(void** memory, size_t size) {
  return call([&] {
    *memory = nullptr;
    if (size == 0) return cudaSuccess;
    if (any_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    Gpu& device = gpu(current_device());
    {
      const std::lock_guard lock(device.mutex);
      if (device.plain + device.pooled + size > settings().memory) return cudaErrorMemoryAllocation;
      device.plain += size;
    }
    std::byte* made = device.arena.reserve(size, nullptr);
    with_devices({device.index}, [&] { device.arena.begin_life(made); });
    *memory = made;
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* memory) {
  return call([&] {
    if (memory == nullptr) return cudaSuccess;
    if (any_capture_forbids()) return cudaErrorStreamCaptureUnsupported;
    Gpu* device = gpu_of(memory);
    const auto allocation = to_free(device, memory);
    if (!allocation) return cudaErrorInvalidValue;
    with_devices({device->index}, [&] { end_life(*device, *allocation); });
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    Gpu& device = gpu(current_device());
    const std::lock_guard lock(device.mutex);
    *total = settings().memory;
    *free = *total - std::min(*total, device.plain + device.pooled);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call([&] {
    auto* pointer = const_cast<void*>(address);
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;  // documented value of cudaInvalidDeviceId
    Gpu* device = gpu_of(address);
    if (device != nullptr && device->arena.find(address)) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = device->index;
      attributes->devicePointer = pointer;
    } else if (is_pinned(address)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->device = current_device();
      attributes->devicePointer = attributes->hostPointer = pointer;
    } else {
      attributes->hostPointer = pointer;
    }
    return cudaSuccess;
  });
}
