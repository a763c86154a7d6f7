// Angles of rotary position embeddings on a GPU.
#pragma once

#include <cstdint>

#include "phi/common/host_device.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// Positions of rows: consecutive from `first` on, or from an int32 or int64 array.
struct RopePositions {
  int64_t first;
  const int32_t* narrow;
  const int64_t* wide;
  PHI_HD int64_t at(int64_t row) const {
    if (narrow) return narrow[row];
    return wide ? wide[row] : first + row;
  }
};

/// Fills `sines` and `cosines` [rows, half]. Element (r, i) has the angle position(r) * base^(-2 i
/// / (2 half)), computed in double.
template <typename C>
void rope_angles(const GpuContext& ctx, const RopePositions& positions, int64_t rows, int64_t half,
                 double base, C* sines, C* cosines);

}  // namespace phi::gpu
