// Normalised coordinates of an image's elements, from -1 to 1 along each spatial dim (affine_grid).
#pragma once

#include <cstdint>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// The coordinate of element `i` of `n`. With align_corners, -1 and 1 are the centres of the first
/// and last element; otherwise their outer borders. A single element has the coordinate 0.
template <typename C>
PHI_HD C affine_coordinate(int64_t i, int64_t n, bool align_corners) {
  if (n == 1) return C(0);
  const C range = align_corners ? C(2) : C(2) * static_cast<C>(n - 1) / static_cast<C>(n);
  return -range / C(2) + range * static_cast<C>(i) / static_cast<C>(n - 1);
}

}  // namespace phi
