// For each slice of an array on a GPU the positions in a list of places that name it, in rising
// order: sorted, so that what is added up needs no atomics and repeats bit for bit.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

struct PositionsBySlice {
  DenseTensor begins;     // [extent + 1]: slice s has positions begins[s] .. begins[s + 1] - 1
  DenseTensor positions;  // [places]; behind the last slice's those of what is elsewhere

  const int64_t* first() const { return begins.data<int64_t>(); }
  const int64_t* of() const { return positions.data<int64_t>(); }
};

/// Places below `extent`, negative ones elsewhere. Position i is i, or `values`[i], an array of the
/// places' length.
PositionsBySlice positions_by_slice(const GpuContext& ctx, const DenseTensor& places,
                                    int64_t extent, const DenseTensor* values = nullptr);

}  // namespace phi::gpu
