// Checks whether the current GPU runs the code of this build.
#pragma once

#include <cuda_runtime_api.h>

namespace phi::gpu {

/// cudaSuccess, or cudaErrorNoKernelImageForDevice if no code of this build fits the GPU.
cudaError_t check_kernel_image();

}  // namespace phi::gpu
