// log |Gamma| and its derivative: in double for every T, and in vectorisable versions for positive
// numbers.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/power.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

/// log |Gamma(x)|; inf at the poles. Uses the reentrant form, because lgamma() writes a global
/// variable.
template <typename T>
PHI_HD T lgamma(T x) {
#ifdef __CUDACC__
  return static_cast<T>(::lgamma(static_cast<double>(x)));
#else
  int sign = 0;
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#endif
}

/// The logarithmic derivative of Gamma: NaN at negative integers, -+inf at +-0. Recurrence up to
/// 10, then the asymptotic series; reflection for negative x.
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

/// Whether the functions below accept x.
template <typename T>
PHI_HD bool is_positive_finite(T x) {
  return (x > T(0)) & (x <= std::numeric_limits<T>::max());
}

/// log Gamma(x) in double, by Stirling's series at x, or at x + 8 below 8 with the eight extra
/// factors removed. The error is below 1e-14 near the zeros 1 and 2.
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
  return ((x == 1.0f) | (x == 2.0f)) ? 0.0f : static_cast<float>(value);
}

/// Within 6 ulp, also near the zeros 1 and 2. In [1, 2) it is a polynomial with these zeros
/// (own fit); other numbers below 8 are shifted there by integers, whose factors are multiplied.
/// From 8 on it is Stirling's series. One logarithm serves all cases.
PHI_HD double lgamma_positive(double x) {
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  const double whole = std::floor(x);
  const bool below_one = x < 1.0;
  const double y = below_one ? x - 0.5 : x - (whole + 0.5);  // the shifted number minus 1.5
  double factors = below_one ? x : 1.0;
  for (int k = 1; k < 7; ++k) factors *= x - k >= 1.0 ? x - k : 1.0;
  const bool large = x >= 8.0;
  const double logarithm = log(large ? x : factors);
  const double p = detail::long_polynomial(
      y, 1.1820969445467145e-05, -1.8527803997032962e-05, 1.3584275459130943e-05,
      -2.148770252062576e-05, 4.281642862794779e-05, -6.793733027397047e-05, 0.00010541715222185904,
      -0.0001685717945035172, 0.00027130273545114005, -0.00043803516132580534,
      0.0007115202752051298, -0.001164411377219605, 0.0019229162321227923, -0.0032120742206072908,
      0.005446457842219553, -0.009425622444829649, 0.01679709863121395, -0.03130848750105327,
      0.06291140107456485, -0.14595989591430594, 0.4831289505409809);
  const double near = p * ((y + 0.5) * (y - 0.5));
  const double small = below_one ? near - logarithm : near + logarithm;

  const double at = large ? x : 8.0;
  const double inverse = 1.0 / at;
  // B_2k / 2k (2k - 1) for k = 9 .. 1.
  const double series = detail::polynomial(
      inverse * inverse, 43867.0 / 244188.0, -3617.0 / 122400.0, 1.0 / 156.0, -691.0 / 360360.0,
      1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0);
  const double far = std::fma(x - 0.5, logarithm - 1.0, (kHalfLog2Pi - 0.5) + series * inverse);
  return large ? far : small;
}

namespace detail {
/// The asymptotic series of digamma without the logarithm, as a function of z = 1 / x^2.
PHI_HD double digamma_series(float, double z) {
  // B_2k / 2k for k = 6 .. 1.
  return polynomial(z, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0,
                    1.0 / 12.0);
}
PHI_HD double digamma_series(double, double z) {
  // .. for k = 9 .. 1.
  return polynomial(z, 43867.0 / 14364.0, -3617.0 / 8160.0, 1.0 / 12.0, -691.0 / 32760.0,
                    1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0);
}
PHI_HD double digamma_log(float, double x) { return wide_log(x); }
PHI_HD double digamma_log(double, double x) { return log(x); }
}  // namespace detail

/// digamma(x) in double, at x, or below 8 at x + 8 minus 1 / x + .. + 1 / (x + 7) as one fraction.
template <typename T>
PHI_HD T digamma_positive(T x) {
  const bool small = x < T(8);
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
  const double series =
      detail::digamma_log(x, at) - 0.5 * inverse - detail::digamma_series(x, z) * z;
  return static_cast<T>(series - (small ? above / below : 0.0));
}

}  // namespace phi::fast
