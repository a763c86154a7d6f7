// Copies and fills.
#include <fmt/format.h>

#include <cstring>

#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {
namespace {

// One side of a copy.
struct Side {
  std::byte* memory;
  Gpu* device;  // null: the host
  bool pageable() const { return device == nullptr && !is_pinned(memory); }
};

Side side_of(const void* memory) {
  return {static_cast<std::byte*>(const_cast<void*>(memory)), gpu_of(memory)};
}

// Whether these bytes are within one allocation.
bool in_bounds(const Side& side, size_t n) {
  if (side.device == nullptr) return side.memory != nullptr;
  const auto found = side.device->arena.find(side.memory);
  return found && n <= static_cast<size_t>(found->begin + found->size - side.memory);
}

bool fits(cudaMemcpyKind kind, const Side& to, const Side& from) {
  const bool to_device = to.device != nullptr;
  const bool from_device = from.device != nullptr;
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
      return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
      return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

std::vector<int> devices_of(const Side& to, const Side& from) {
  std::vector<int> devices;
  if (to.device != nullptr) devices.push_back(to.device->index);
  if (from.device != nullptr) devices.push_back(from.device->index);
  return devices;
}

void copy_now(const Side& to, const Side& from, size_t n) {
  if (to.device != nullptr) check_alive("a copy", *to.device, to.memory);
  if (from.device != nullptr) check_alive("a copy", *from.device, from.memory);
  std::memmove(to.memory, from.memory, n);
}

cudaError_t check_copy(const Side& to, const Side& from, size_t n, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (!fits(kind, to, from)) {
    explain(fmt::format("a copy of kind {} from the {} to the {}", static_cast<int>(kind),
                        from.device != nullptr ? "device" : "host",
                        to.device != nullptr ? "device" : "host"));
    return cudaErrorInvalidValue;
  }
  return in_bounds(to, n) && in_bounds(from, n) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t copy_in_order(void* to_memory, const void* from_memory, size_t n, cudaMemcpyKind kind,
                          cudaStream_t stream) {
  const cudaError_t found = check_stream(stream);
  if (found != cudaSuccess || n == 0) return found;
  const Side to = side_of(to_memory);
  const Side from = side_of(from_memory);
  const cudaError_t checked = check_copy(to, from, n, kind);
  if (checked != cudaSuccess) return checked;
  Work work{.name = fmt::format("copy of {} bytes", n), .devices = devices_of(to, from)};
  if (from.pageable() && !stream->capture) {  // CUDA stages such a copy before the call returns
    work.run = [=, staged = std::vector<std::byte>(from.memory, from.memory + n)]() mutable {
      copy_now(to, {staged.data(), nullptr}, n);
    };
  } else {
    work.run = [=] { copy_now(to, from, n); };
  }
  const cudaError_t queued = enqueue(stream, std::move(work));
  // A copy to pageable memory is complete when CUDA returns from it.
  if (queued == cudaSuccess && to.pageable() && !stream->capture) wait_for_stream(stream);
  return queued;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&] { return copy_in_order(to, from, n, kind, stream); });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t n, cudaStream_t stream) {
  return call([&] {
    const bool right =
        n == 0 || (gpu_of(to) == &gpu(to_device) && gpu_of(from) == &gpu(from_device));
    if (!right) return cudaErrorInvalidValue;
    return copy_in_order(to, from, n, cudaMemcpyDeviceToDevice, stream);
  });
}

cudaError_t cudaMemcpy(void* to_memory, const void* from_memory, size_t n, cudaMemcpyKind kind) {
  return call([&] {
    if (n == 0) return cudaSuccess;
    if (any_capture_forbids()) return cudaErrorStreamCaptureImplicit;
    const Side to = side_of(to_memory);
    const Side from = side_of(from_memory);
    const cudaError_t checked = check_copy(to, from, n, kind);
    if (checked != cudaSuccess) return checked;
    // The copy is on the default stream, which waits for the blocking streams.
    wait_for_device(current_device(), true);
    with_devices(devices_of(to, from), [&] { copy_now(to, from, n); });
    return gpu(current_device()).sticky.load();
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t n, cudaStream_t stream) {
  return call([&] {
    const cudaError_t found = check_stream(stream);
    if (found != cudaSuccess || n == 0) return found;
    const Side to = side_of(memory);
    if (to.device == nullptr || !in_bounds(to, n)) return cudaErrorInvalidValue;
    return enqueue(stream, {.name = fmt::format("cudaMemsetAsync of {} bytes", n),
                            .run =
                                [=] {
                                  check_alive("cudaMemsetAsync", *to.device, to.memory);
                                  std::memset(to.memory, value, n);
                                },
                            .devices = {to.device->index}});
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    int count = 0;
    cudaGetDeviceCount(&count);
    if (device < 0 || device >= count || peer < 0 || peer >= count) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}
