// Angles of the rotary position embedding on a GPU.
#pragma once

#include <cstdint>

#include "phi/common/hd.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// The positions of rows: from `first` on, or those that ids say, int32 or int64.
struct RopePositions {
  int64_t first;
  const int32_t* narrow;
  const int64_t* wide;
  PHI_HD int64_t at(int64_t row) const {
    if (narrow) return narrow[row];
    return wide ? wide[row] : first + row;
  }
};

/// sines and cosines [rows, half] of C: of row r and pair i those of position * base^(-2 i / (2
/// half)), worked out in double.
template <typename C>
void rope_angles(const GpuContext& ctx, const RopePositions& positions, int64_t rows, int64_t half,
                 double base, C* sines, C* cosines);

}  // namespace phi::gpu
