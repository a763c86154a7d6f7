// log |Gamma| and its derivative: in double for every T, and for positive floats in forms that
// compilers vectorise.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "phi/kernels/functors/fast_power.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

/// log |Gamma(x)|; inf at the poles. The reentrant form: lgamma() itself writes a global variable.
template <typename T>
PHI_HD T lgamma(T x) {
#ifdef __CUDACC__
  return static_cast<T>(::lgamma(static_cast<double>(x)));
#else
  int sign = 0;
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#endif
}

/// The logarithmic derivative of Gamma. NaN at negative whole numbers, -+inf at +-0. Recurrence up
/// to 10, then the asymptotic series; reflection for negative x.
PHI_HD double digamma(double x) {
  if (x == 0.0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0.0;
  if (x < 0.0) {
    const double part = x - std::rint(x);  // exact, near 0 too
    if (part == 0.0) return std::numeric_limits<double>::quiet_NaN();
    result = -std::numbers::pi / std::tan(std::numbers::pi * part);
    x = 1.0 - x;
  }
  while (x < 10.0) {
    result -= 1.0 / x;
    x += 1.0;
  }
  const double z = 1.0 / (x * x);
  // B_2k / 2k for k = 7 .. 1.
  double p = 1.0 / 12.0;
  p = p * z - 691.0 / 32760.0;
  p = p * z + 1.0 / 132.0;
  p = p * z - 1.0 / 240.0;
  p = p * z + 1.0 / 252.0;
  p = p * z - 1.0 / 120.0;
  p = p * z + 1.0 / 12.0;
  return result + std::log(x) - 0.5 / x - p * z;
}

/// Whether the forms for floats below take x.
PHI_HD bool is_positive_finite(float x) {
  return (x > 0.0f) & (x <= std::numeric_limits<float>::max());
}

/// log Gamma(x) in double, by Stirling's series at x or, below 8, at x + 8: Gamma(x + 8) has eight
/// factors more. Near its zeros, 1 and 2, within 1e-14 of it.
PHI_HD float lgamma_positive(float x) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  const bool small = x < 8.0f;
  const double start = x;
  const double ends = start * (start + 7.0);  // pairs of factors, from both ends
  const double factors = ends * (ends + 6.0) * (ends + 10.0) * (ends + 12.0);
  const double at = small ? start + 8.0 : start;
  const double inverse = 1.0 / at;
  const double z = inverse * inverse;
  // B_2k / 2k (2k - 1) for k = 7 .. 1.
  double p = 1.0 / 156.0;
  p = p * z - 691.0 / 360360.0;
  p = p * z + 1.0 / 1188.0;
  p = p * z - 1.0 / 1680.0;
  p = p * z + 1.0 / 1260.0;
  p = p * z - 1.0 / 360.0;
  p = p * z + 1.0 / 12.0;
  const double series = (at - 0.5) * detail::wide_log(at) - at + kHalfLog2Pi + p * inverse;
  const double value = series - detail::wide_log(small ? factors : 1.0);
  return (x == 1.0f) | (x == 2.0f) ? 0.0f : static_cast<float>(value);
}

/// digamma(x) in double, at x or, below 8, at x + 8 less 1 / x + .. + 1 / (x + 7): one fraction.
PHI_HD float digamma_positive(float x) {
  const bool small = x < 8.0f;
  const double start = x;
  double above = 1.0;  // the sum so far is above / below
  double below = start;
  for (int k = 1; k < 8; ++k) {
    above = above * (start + k) + below;
    below *= start + k;
  }
  const double at = small ? start + 8.0 : start;
  const double inverse = 1.0 / at;
  const double z = inverse * inverse;
  // B_2k / 2k for k = 6 .. 1.
  double p = -691.0 / 32760.0;
  p = p * z + 1.0 / 132.0;
  p = p * z - 1.0 / 240.0;
  p = p * z + 1.0 / 252.0;
  p = p * z - 1.0 / 120.0;
  p = p * z + 1.0 / 12.0;
  const double series = detail::wide_log(at) - 0.5 * inverse - p * z;
  return static_cast<float>(series - (small ? above / below : 0.0));
}

}  // namespace phi::fast
