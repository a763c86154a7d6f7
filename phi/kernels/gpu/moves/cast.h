// Elements of one dtype as elements of another on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// out[i] = x[i], n elements, values as on the CPU. Compiled once for each pair of dtypes. The
/// arrays must not overlap, unless they are one of one dtype.
void cast_elements(const GpuContext& ctx, const void* x, DataType from, void* out, DataType to,
                   int64_t n);

/// A copy, where `out` is not x anyway.
void keep_bytes(const GpuContext& ctx, const void* x, void* out, size_t bytes);

/// cast_elements of whole tensors.
inline void cast(const GpuContext& ctx, const DenseTensor& x, DenseTensor* out) {
  cast_elements(ctx, x.raw_data(), x.dtype(), out->mutable_raw_data(), out->dtype(), x.numel());
}

}  // namespace phi::gpu
