// Whether the current GPU runs the code of this build.
#pragma once

#include <cuda_runtime_api.h>

namespace phi::gpu {

/// cudaErrorNoKernelImageForDevice if none of the code fits.
cudaError_t find_code();

}  // namespace phi::gpu
