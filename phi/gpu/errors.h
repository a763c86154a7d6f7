// What CUDA's calls return, as errors of this library.
//
//   PHI_GPU(cudaStreamSynchronize(stream));
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace phi::gpu {

/// "CUDA error 700, cudaErrorIllegalAddress: an illegal memory access was encountered"
std::string describe(cudaError_t status);

/// Errors: Unavailable, naming the call and what CUDA says of it.
[[noreturn]] void throw_failed(cudaError_t status, const char* call);

}  // namespace phi::gpu

#define PHI_GPU(call)                                                            \
  do {                                                                           \
    if (const cudaError_t status_ = (call); status_ != cudaSuccess) [[unlikely]] \
      ::phi::gpu::throw_failed(status_, #call);                                  \
  } while (false)
