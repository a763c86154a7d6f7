// Elementwise reduction of arrays that lie in one GPU's memory.
#pragma once

#include <cstdint>
#include <span>

#include "distributed/placement/placement.h"
#include "phi/common/dtype.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

/// As reduce_arrays (comm/reduce.h), the same bits, on the compute stream.
void reduce_on_gpu(gpu::GpuDevice& device, std::span<const void* const> inputs, void* out,
                   int64_t count, DataType dtype, ReduceKind kind);

}  // namespace phi::distributed
