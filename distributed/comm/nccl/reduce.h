// Elementwise reduction of several arrays in one GPU's memory.
#pragma once

#include <cstdint>
#include <span>

#include "distributed/placement/placement.h"
#include "phi/common/dtype.h"
#include "phi/gpu/gpu_device.h"

namespace phi::distributed {

/// Same contract and bits as reduce_arrays (comm/reduce.h); queued on the compute stream.
void reduce_on_gpu(gpu::GpuDevice& device, std::span<const void* const> inputs, void* out,
                   int64_t count, DataType dtype, ReduceKind kind);

}  // namespace phi::distributed
