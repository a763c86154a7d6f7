// Groups a list of places by slice: for each slice of a GPU array, the positions in the list that
// select it, in ascending order. Sums over a group then need no atomics and repeat bit for bit.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

struct PositionsBySlice {
  DenseTensor begins;     // [extent + 1]: slice s has positions[begins[s] .. begins[s + 1] - 1]
  DenseTensor positions;  // [places]; after the last slice: positions of negative places

  const int64_t* first() const { return begins.data<int64_t>(); }
  const int64_t* of() const { return positions.data<int64_t>(); }
};

/// Groups `places`, which are below `extent` or negative (not here). The result contains i, or
/// `values`[i], for position i. `values` has the length of `places`.
PositionsBySlice positions_by_slice(const GpuContext& ctx, const DenseTensor& places,
                                    int64_t extent, const DenseTensor* values = nullptr);

}  // namespace phi::gpu
