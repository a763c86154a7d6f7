// Memory pools, and allocation from them in stream order.
#include <algorithm>

#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/settings.h"
#include "support/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {
namespace {

constexpr size_t kReserveUnit = size_t{2} << 20;  // unit in which pools reserve memory

size_t rounded(size_t n) { return (n + kReserveUnit - 1) / kReserveUnit * kReserveUnit; }

// Reserves `size` bytes in the pool if the GPU has room. Requires the GPU's lock.
bool take(Gpu& device, CUmemPoolHandle_st& pool, size_t size, cudaStream_t stream) {
  CUmemPoolHandle_st::QueuedFrees& queued = pool.queued_frees[stream];
  const size_t needed = pool.used + size;
  const size_t reused =
      needed > pool.reserved ? std::min(needed - pool.reserved, queued.untaken) : 0;
  const size_t reserved = std::max(pool.reserved, rounded(needed - reused));
  const size_t more = reserved - pool.reserved;
  if (device.plain + device.pooled + more > settings().memory) return false;
  if (pool.limit != 0 && reserved > pool.limit) return false;
  device.pooled += more;
  pool.reserved = reserved;
  pool.used += size - reused;
  queued.untaken -= reused;
  queued.taken += reused;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return true;
}

CUmemPoolHandle_st* pool_of(const Arena::Allocation& allocation) {
  return static_cast<CUmemPoolHandle_st*>(const_cast<void*>(allocation.pool));
}

void queue_free(Gpu& device, const Arena::Allocation& allocation, cudaStream_t stream) {
  const std::lock_guard lock(device.mutex);
  if (CUmemPoolHandle_st* const pool = pool_of(allocation))
    pool->queued_frees[stream].untaken += allocation.size;
}

// The part of the freed memory that later allocations took stays in use.
void run_free(Gpu& device, const Arena::Allocation& allocation, cudaStream_t stream) {
  const std::lock_guard lock(device.mutex);
  CUmemPoolHandle_st* const pool = pool_of(allocation);
  if (pool == nullptr) return;
  CUmemPoolHandle_st::QueuedFrees& queued = pool->queued_frees[stream];
  const size_t taken = std::min(allocation.size, queued.taken);
  queued.taken -= taken;
  queued.untaken -= allocation.size - taken;
  pool->used += taken;
}

void shrink(Gpu& device, CUmemPoolHandle_st& pool, size_t keep) {
  const size_t reserved = std::max(rounded(pool.used), std::min(keep, pool.reserved));
  if (reserved >= pool.reserved) return;
  device.pooled -= pool.reserved - reserved;
  pool.reserved = reserved;
}

std::mutex pools_mutex;
std::vector<CUmemPoolHandle_st*> pools;  // created pools, without the default ones

cudaError_t allocate_from(void** memory, size_t size, CUmemPoolHandle_st& pool,
                          cudaStream_t stream) {
  const cudaError_t found = check_stream(stream);
  if (found != cudaSuccess) return found;
  if (pool.device != stream->device) return cudaErrorInvalidValue;
  *memory = nullptr;
  if (size == 0) return cudaSuccess;
  if (stream->capture) return forbidden_in_capture(*stream, "an allocation");
  Gpu& device = gpu(pool.device);
  const auto takes = [&] {
    const std::lock_guard lock(device.mutex);
    return take(device, pool, size, stream);
  };
  if (!takes()) {
    run_what_can(pool.device);  // queued frees may release memory
    if (!takes()) return cudaErrorMemoryAllocation;
  }
  std::byte* made = device.arena.reserve(size, &pool);
  *memory = made;
  return enqueue(stream, {.name = "cudaMallocAsync",
                          .run = [&device, made] { device.arena.begin_life(made); },
                          .devices = {device.index}});
}

}  // namespace

void give_back_reserved(int index) {
  Gpu& device = gpu(index);
  const std::lock_guard lock(device.mutex);
  shrink(device, device.pool, device.pool.threshold);
  const std::lock_guard pools_lock(pools_mutex);
  for (CUmemPoolHandle_st* pool : pools) {
    if (pool->device == index) shrink(device, *pool, pool->threshold);
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaMallocFromPoolAsync(void** memory, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&] { return allocate_from(memory, size, *pool, stream); });
}

cudaError_t cudaMallocAsync(void** memory, size_t size, cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    return allocate_from(memory, size, gpu(stream->device).pool, stream);
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess) return found;
    if (memory == nullptr) return cudaSuccess;
    if (stream->capture) return forbidden_in_capture(*stream, "cudaFreeAsync");
    Gpu* device = gpu_of(memory);
    const auto allocation = to_free(device, memory);
    if (!allocation) return cudaErrorInvalidValue;
    if (!device->arena.give_up(allocation->begin)) return cudaErrorInvalidValue;
    queue_free(*device, *allocation, stream);
    return enqueue(stream, {.name = "cudaFreeAsync",
                            .run =
                                [=] {
                                  run_free(*device, *allocation, stream);
                                  end_life(*device, *allocation);
                                },
                            .devices = {device->index}});
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    if (device < 0 || device >= settings().gpus) return cudaErrorInvalidDevice;
    *pool = &gpu(device).pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return call([&] {
    const bool known = props->allocType == cudaMemAllocationTypePinned &&
                       props->location.type == cudaMemLocationTypeDevice &&
                       props->handleTypes == cudaMemHandleTypeNone;
    if (!known || props->location.id < 0 || props->location.id >= settings().gpus) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(pools_mutex);
    *pool = pools.emplace_back(
        new CUmemPoolHandle_st{.device = props->location.id, .limit = props->maxSize});
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] {
    Gpu& device = gpu(pool->device);
    if (pool == &device.pool) return cudaErrorInvalidValue;
    const std::lock_guard lock(device.mutex);
    const std::lock_guard pools_lock(pools_mutex);
    if (pool->destroyed || std::erase(pools, pool) == 0) return cudaErrorInvalidValue;
    pool->destroyed = true;
    drop_if_over(device, pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return call([&] {
    Gpu& device = gpu(pool->device);
    const std::lock_guard lock(device.mutex);
    shrink(device, *pool, keep);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    const std::lock_guard lock(gpu(pool->device).mutex);
    const uint64_t number = *static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] =
            *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->threshold = number;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
        if (number != 0) return cudaErrorInvalidValue;
        pool->reserved_high = pool->reserved;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        if (number != 0) return cudaErrorInvalidValue;
        pool->used_high = pool->used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    const std::lock_guard lock(gpu(pool->device).mutex);
    uint64_t* number = static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) =
            pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        *number = pool->threshold;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
        *number = pool->reserved;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
        *number = pool->reserved_high;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemCurrent:
        *number = pool->used;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        *number = pool->used_high;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}
