// Rotation: arguments of rotary position embedding, shared by all devices.
#pragma once

#include "phi/core/dense_tensor.h"

namespace phi {

/// The arguments that the forward and the gradient kernel share.
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
