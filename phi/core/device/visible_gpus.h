// The GPUs that CUDA shows to this process, queried without taking one. Defined in phi/gpu.
#pragma once

#include <array>
#include <cstdint>

namespace phi {

/// How many there are, 1 at least; CUDA_VISIBLE_DEVICES selects them. Errors: Unavailable if there
/// is none, if no driver answers or it is too old, or if this build has no CUDA.
int visible_gpus();

/// A GPU's uuid, or that of a MIG instance: the same in every process, and unique among machines.
using GpuId = std::array<int64_t, 2>;
/// Of one of the visible_gpus(). Errors: Unavailable if CUDA does not tell it.
GpuId id_of_gpu(int index);

}  // namespace phi
