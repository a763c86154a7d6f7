// Whether two numbers are close.
#pragma once

#include <cmath>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// |x - y| <= atol + rtol |y|, in double. Infinities are close to themselves alone, and NaN to NaN
/// where `equal_nan` says so.
struct IsCloseFunctor {
  double rtol;
  double atol;
  bool equal_nan;

  template <typename T>
  PHI_HD bool operator()(T x, T y) const {
    const auto a = static_cast<double>(x);
    const auto b = static_cast<double>(y);
    const double apart = std::abs(a - b);
    // Of infinities and NaN this is infinite or NaN; finite tolerances decide about the others.
    const bool near = apart <= atol + rtol * std::abs(b) && apart * 0 == 0;
    return near || x == y || (equal_nan && x != x && y != y);
  }
};

}  // namespace phi
