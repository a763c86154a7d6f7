// Messages of CUDA errors.
#include "phi/gpu/errors.h"

#include <fmt/format.h>

#include "phi/common/errors.h"

namespace phi::gpu {

std::string describe(cudaError_t status) {
  return fmt::format("CUDA error {}, {}: {}", static_cast<int>(status), cudaGetErrorName(status),
                     cudaGetErrorString(status));
}

void throw_failed(cudaError_t status, const char* call) {
  throw errors::Unavailable("{} failed with {}.", call, describe(status));
}

}  // namespace phi::gpu
