// Conversion of CUDA error codes to exceptions.
//
//   PHI_GPU(cudaStreamSynchronize(stream));
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace phi::gpu {

/// "CUDA error 700, cudaErrorIllegalAddress: an illegal memory access was encountered"
std::string describe(cudaError_t status);

/// Throws Unavailable with the failed call and CUDA's description of the status.
[[noreturn]] void throw_failed(cudaError_t status, const char* call);

}  // namespace phi::gpu

/// Evaluates a CUDA call once. Errors: Unavailable if it does not return cudaSuccess.
#define PHI_GPU(call)                                                            \
  do {                                                                           \
    if (const cudaError_t status_ = (call); status_ != cudaSuccess) [[unlikely]] \
      ::phi::gpu::throw_failed(status_, #call);                                  \
  } while (false)
