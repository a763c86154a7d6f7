// Rotation: how heads of q, k and v are rotated by their positions, for the kernels of each device.
#pragma once

#include "phi/core/dense_tensor.h"

namespace phi {

/// The arguments that both directions share.
struct Rotation {
  const DenseTensor* sin;
  const DenseTensor* cos;
  const DenseTensor* position_ids;
  bool adjacent;
  bool time_major;
  float base;
  bool back;
};

}  // namespace phi
