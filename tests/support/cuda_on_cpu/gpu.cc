// GPUs, and each thread's current GPU and last error.
#include "support/cuda_on_cpu/gpu.h"

#include <array>

#include "support/cuda_on_cpu/settings.h"

namespace cuda_on_cpu {
namespace {

constexpr int kMaxGpus = 64;

std::mutex mutex;
std::array<std::atomic<Gpu*>, kMaxGpus> gpus{};  // never freed: streams may outlive main
thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

Gpu& gpu(int index) {
  if (index < 0 || index >= kMaxGpus) fail("the emulator has at most 64 GPUs");
  std::atomic<Gpu*>& slot = gpus[static_cast<size_t>(index)];
  if (Gpu* made = slot) return *made;
  const std::lock_guard lock(mutex);
  if (slot.load() == nullptr) {
    auto made = std::make_unique<Gpu>();
    made->index = index;
    made->pool.device = index;
    slot = made.release();
  }
  return *slot;
}

Gpu* gpu_of(const void* address) {
  for (const std::atomic<Gpu*>& slot : gpus) {
    Gpu* made = slot;
    if (made != nullptr && made->arena.contains(address)) return made;
  }
  return nullptr;
}

void forget_failures() {
  for (const std::atomic<Gpu*>& slot : gpus) {
    if (Gpu* made = slot) made->sticky = cudaSuccess;
  }
  last_error = cudaSuccess;
}

void reset() {
  settings().restore();
  forget_settings_of_parts();
  forget_failures();
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }

cudaError_t state_of_runtime() {
  if (settings().driver_version < CUDART_VERSION) return cudaErrorInsufficientDriver;
  if (settings().gpus == 0) return cudaErrorNoDevice;
  return gpu(current).sticky;
}

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGetLastError() {
  const cudaError_t sticky = gpu(current_device()).sticky;
  const cudaError_t error = sticky != cudaSuccess ? sticky : last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = gpu(current_device()).sticky;
  return sticky != cudaSuccess ? sticky : last_error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (settings().driver_version < CUDART_VERSION) return noted(cudaErrorInsufficientDriver);
  if (settings().gpus == 0) return noted(cudaErrorNoDevice);
  *count = settings().gpus;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (settings().driver_version < CUDART_VERSION) return noted(cudaErrorInsufficientDriver);
  if (device < 0 || device >= settings().gpus) return noted(cudaErrorInvalidDevice);
  set_current_device(device);
  return noted(gpu(device).sticky);
}

cudaError_t cudaGetDevice(int* device) {
  if (settings().driver_version < CUDART_VERSION) return noted(cudaErrorInsufficientDriver);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = settings().driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
