// Pinned host memory, which GPUs access directly. Whole pages are allocated as for the CPU and then
// pinned, because memory from cudaHostAlloc need not begin at a page boundary, as direct file I/O
// requires.
#include <cuda_runtime_api.h>

#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {

std::byte* GpuDevice::allocate_host(size_t nbytes) {
  make_current();
  std::byte* const memory = Device::allocate_host(nbytes);
  if (!memory) return nullptr;
  const cudaError_t status = cudaHostRegister(memory, nbytes, cudaHostRegisterPortable);
  if (status == cudaSuccess) return memory;
  Device::free_host(memory);
  if (status != cudaErrorMemoryAllocation) throw_failed(status, "cudaHostRegister");
  (void)cudaGetLastError();
  return nullptr;
}

void GpuDevice::free_host(std::byte* memory) {
  // CUDA may have shut down, or a kernel may have failed. Without a current device the call would
  // create a context on the first GPU.
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current != index_) (void)cudaSetDevice(index_);
  (void)cudaHostUnregister(memory);
  Device::free_host(memory);
}

}  // namespace phi::gpu
