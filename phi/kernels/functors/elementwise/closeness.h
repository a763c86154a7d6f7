// Tests whether two numbers are close.
#pragma once

#include <cmath>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// |x - y| <= atol + rtol |y|, in double. An infinity is close only to itself. NaN is close to NaN
/// if `equal_nan`.
struct IsCloseFunctor {
  double rtol;
  double atol;
  bool equal_nan;

  template <typename T>
  PHI_HD bool operator()(T x, T y) const {
    const double apart = distance(x, y);
    // `apart` is infinite or NaN for infinities and NaN; finite tolerances decide the other cases.
    const bool near = apart <= atol + rtol * magnitude(y) && apart * 0 == 0;
    return near || x == y || (equal_nan && x != x && y != y);
  }

 private:
  template <typename T>
  PHI_HD static double magnitude(T x) {
    if constexpr (kIsComplex<T>) {
      return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
    } else {
      return std::abs(static_cast<double>(x));
    }
  }
  template <typename T>
  PHI_HD static double distance(T x, T y) {
    if constexpr (kIsComplex<T>) {
      return magnitude(complex128(x) - complex128(y));
    } else {
      return std::abs(static_cast<double>(x) - static_cast<double>(y));
    }
  }
};

inline IsCloseFunctor closeness(const Scalar& rtol, const Scalar& atol, bool equal_nan) {
  return {rtol.to<double>(), atol.to<double>(), equal_nan};
}

}  // namespace phi
