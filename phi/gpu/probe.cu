// A kernel that is looked up to test whether the GPU runs this build's code. It never runs.
#include <cuda_runtime.h>

#include "phi/gpu/probe.h"

namespace phi::gpu {
namespace {

__global__ void probe(int* out) { *out = 1; }

}  // namespace

cudaError_t check_kernel_image() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(probe));
}

}  // namespace phi::gpu
