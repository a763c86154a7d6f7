// Memory of the host that GPUs copy from and to by themselves. Whole pages are taken as for the CPU
// and pinned then: what cudaHostAlloc gives need not begin on a page, as files want it.
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
  // Also when CUDA has ended already, or after a kernel that failed. Without a current GPU a thread
  // would take up the first one.
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current != index_) (void)cudaSetDevice(index_);
  (void)cudaHostUnregister(memory);
  Device::free_host(memory);
}

}  // namespace phi::gpu
