// A stable sort on a GPU.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// Numbers and what belongs to each, int64 arrays of the GPU; keys are sorted as uint64.
struct SortedPairs {
  DenseTensor keys;
  DenseTensor values;
};

/// By the lowest `bits` bits of the keys, from small to large; pairs of equal keys keep their
/// order.
SortedPairs radix_sort(const GpuContext& ctx, SortedPairs pairs, int bits);

/// How many bits numbers below `end` have.
int bits_below(int64_t end);

}  // namespace phi::gpu
