// Queries the GPUs that are visible to this process, without initialising one. Defined in phi/gpu.
#pragma once

#include <array>
#include <cstdint>

namespace phi {

/// Returns the number of visible GPUs, at least 1; CUDA_VISIBLE_DEVICES selects them. Errors:
/// Unavailable if there is none, if the driver is missing or too old, or if this build has no CUDA.
int visible_gpus();

/// UUID of a GPU or of a MIG instance: the same in every process, and unique among machines.
using GpuId = std::array<int64_t, 2>;
/// Returns the UUID of visible GPU `index`. Errors: Unavailable if CUDA does not report it.
GpuId id_of_gpu(int index);

}  // namespace phi
