// Dtype conversion on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// out[i] = x[i] for n elements, with the same values as on the CPU. Compiled once per pair of
/// dtypes. The arrays must not overlap, unless they are the same array and the dtypes are equal.
void cast_elements(const GpuContext& ctx, const void* x, DataType from, void* out, DataType to,
                   int64_t n);

/// Copies `bytes` bytes, unless `out` is x.
void keep_bytes(const GpuContext& ctx, const void* x, void* out, size_t bytes);

/// Casts a whole tensor.
inline void cast(const GpuContext& ctx, const DenseTensor& x, DenseTensor* out) {
  cast_elements(ctx, x.raw_data(), x.dtype(), out->mutable_raw_data(), out->dtype(), x.numel());
}

}  // namespace phi::gpu
