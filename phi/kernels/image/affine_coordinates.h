// The coordinates of an image's elements, -1 to 1 along each spatial dim (affine_grid).
#pragma once

#include <cstdint>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// Of element `i` of `n`: with align_corners -1 and 1 are the centres of those at the ends, else
/// their outer borders. A single element lies in the middle.
template <typename C>
PHI_HD C affine_coordinate(int64_t i, int64_t n, bool align_corners) {
  if (n == 1) return C(0);
  const C range = align_corners ? C(2) : C(2) * static_cast<C>(n - 1) / static_cast<C>(n);
  return -range / C(2) + range * static_cast<C>(i) / static_cast<C>(n - 1);
}

}  // namespace phi
