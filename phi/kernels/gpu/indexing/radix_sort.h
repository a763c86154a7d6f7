// Stable radix sort on a GPU.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// Keys and values: int64 arrays of equal length on the GPU. Keys are compared as uint64.
struct SortedPairs {
  DenseTensor keys;
  DenseTensor values;
};

/// Sorts ascending by the lowest `bits` bits of the keys. Pairs with equal keys keep their order.
SortedPairs radix_sort(const GpuContext& ctx, SortedPairs pairs, int bits);

/// Number of bits that represent all numbers in [0, end).
int bits_below(int64_t end);

}  // namespace phi::gpu
