// Exponentials and logarithms near their zeros and to other bases, and hyperbolic functions. Like
// those of math.h, on which they build, they vectorise. Infinities, NaN and -0 behave as in the
// standard library.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/fast/math.h"

namespace phi::fast {

/// exp(x) - 1, scaled by halves, so that it does not overflow before the result does.
template <typename T>
PHI_HD T expm1(T x) {
  using R = detail::FloatTraits<T>;
  T inside = x < R::kExpm1IsMinus1 ? R::kExpm1IsMinus1 : x;  // NaN passes both comparisons
  inside = inside > R::kExpIsInf ? R::kExpIsInf : inside;
  const auto [half, rest] = detail::split_exponent(inside, T(-1));
  const T q = detail::exp_tail(rest) * (rest * rest) + rest;
  const T y = half * q + (half - T(0.5));
  return std::fabs(x) < R::kExpm1IsX ? x : y + y;
}

/// exp(x) - 1 for x <= kExpInside. Equal bit for bit to expm1, except that it is 0 at -0.
template <typename T>
PHI_HD T expm1_below(T x) {
  constexpr T kLowest = detail::FloatTraits<T>::kExpm1IsMinus1;
  return expm1_inside(x < kLowest ? kLowest : x);
}

namespace detail {
/// log(1 + x), where u = 1 + x rounded and y = log(u). The ratio x / (u - 1) corrects the rounding,
/// and its errors cancel (W. Kahan).
PHI_HD float log1p_by_log(float x, float u, float y) {
  const float d = u - 1.0f;
  return d == 0.0f ? x : y * (x / d);
}
}  // namespace detail

/// log(1 + x).
PHI_HD float log1p(float x) {
  const float u = 1.0f + x;
  const float y = log(u);
  return u < std::numeric_limits<float>::infinity() ? detail::log1p_by_log(x, u, y) : y;
}
/// log(u) for u = 1 + x, plus the rounding error of u relative to u, which is that of its
/// logarithm.
PHI_HD double log1p(double x) {
  const double u = 1.0 + x;
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const double y = detail::log_of(detail::split_normal(u), lost / u);
  return x == 0.0 ? x : detail::log_ends(u, y);
}

/// For -1 < x < inf.
PHI_HD float log1p_inside(float x) {
  const float u = 1.0f + x;
  return detail::log1p_by_log(x, u, log_inside(u));
}

/// log(1 + x) for 0 <= x <= 1, such as exp(-|y|), with a shorter dependency chain: 2 atanh(s) for s
/// = x / (2 + x) by a polynomial of least relative error (own fit, 4e-9).
PHI_HD float log1p_of_fraction(float x) {
  const float s = x / (2.0f + x);
  const float z = s * s;
  float p = 2.8179033797e-1f;
  p = p * z + 2.7960466773e-1f;
  p = p * z + 4.0024918383e-1f;
  p = p * z + 6.6666314532e-1f;
  p = p * z + 2.0000000079f;
  return p * s;
}
PHI_HD double log1p_of_fraction(double x) {  // 7e-18
  const double s = x / (2.0 + x);
  const double z = s * s;
  const double p = detail::polynomial(z, 0.1616404561194353, 0.08800738486144674,
                                      0.12001072809590713, 0.13314144209654935, 0.15385570064958623,
                                      0.18181789436132859, 0.22222222717427864, 0.2857142856710876,
                                      0.40000000000014585, 0.6666666666666666);
  return std::fma(p * z, s, 2.0 * s);
}

namespace detail {
template <typename T>
PHI_HD T log2_of(MantissaAndExponent<T> x) {
  return x.exponent + log_polynomial(x.mantissa - T(1), T(0)) * FloatTraits<T>::kLog2e;
}
}  // namespace detail

/// Exact for powers of 2.
template <typename T>
PHI_HD T log2(T x) {
  return detail::log_ends(x, detail::log2_of(detail::split(x)));
}

namespace detail {
PHI_HD float log10_of(MantissaAndExponent<float> x) {
  return log_of(x) * FloatTraits<float>::kLog10e;
}
/// Exact for powers of 10: the exponent of 2 is multiplied by log10(2) in two parts (fdlibm).
PHI_HD double log10_of(MantissaAndExponent<double> x) {
  constexpr double kLog10Of2High = 0.301029995663157;
  constexpr double kLog10Of2Low = 8.241712586023572e-13;
  const double of_mantissa = log_polynomial(x.mantissa - 1.0, 0.0) * FloatTraits<double>::kLog10e;
  const double low = std::fma(x.exponent, kLog10Of2Low, of_mantissa);
  return std::fma(x.exponent, kLog10Of2High, low);
}
}  // namespace detail

template <typename T>
PHI_HD T log10(T x) {
  return detail::log_ends(x, detail::log10_of(detail::split(x)));
}

/// For positive normal numbers.
template <typename T>
PHI_HD T log2_inside(T x) {
  return detail::log2_of(detail::split_normal(x));
}
template <typename T>
PHI_HD T log10_inside(T x) {
  return detail::log10_of(detail::split_normal(x));
}

namespace detail {
/// exp(|x| / 2), whose square can represent results up to 1.5 times the largest number; clamped to
/// exp(kExpInside), whose square is infinite.
template <typename T>
PHI_HD T half_exp(T x) {
  constexpr T kMost = FloatTraits<T>::kExpInside;
  const T half = T(0.5) * std::fabs(x);
  return exp_inside(half > kMost ? kMost : half);
}

/// (sinh(x) / x - 1) / x^2 at z = x^2 for |x| <= 1 (own fit, relative error 1e-9).
PHI_HD float sinh_tail(float z) {
  float p = 2.8062802582e-6f;
  p = p * z + 1.9838101969e-4f;
  p = p * z + 8.3333396759e-3f;
  return p * z + 1.6666666647e-1f;
}
PHI_HD double sinh_tail(double z) {  // 1e-17
  return polynomial(z, 7.746178593018827e-13, 1.6057679623801638e-10, 2.5052117695907823e-08,
                    2.7557319191381816e-06, 0.00019841269841324198, 0.008333333333333299,
                    0.16666666666666666);
}
}  // namespace detail

template <typename T>
PHI_HD T sinh(T x) {
  const T z = x * x;
  const T p = detail::sinh_tail(z);
  const T e = detail::half_exp(x);
  const T large = std::copysign((T(0.5) * e) * e - T(0.5) / e / e, x);
  return std::fabs(x) <= T(1) ? p * z * x + x : large;
}

template <typename T>
PHI_HD T cosh(T x) {
  const T e = detail::half_exp(x);
  return (T(0.5) * e) * e + T(0.5) / e / e;
}

namespace detail {
template <typename T>
inline constexpr T kLn2 = T(0.69314718055994530942);
template <typename T>
inline constexpr T kSquareIsHuge = T(1e9);  // x^2 + 1 rounds to x^2 above it
}  // namespace detail

template <typename T>
PHI_HD T asinh(T x) {
  const T a = std::fabs(x);
  const T z = a * a;
  const T small = log1p(a + z / (T(1) + std::sqrt(z + T(1))));
  const T large = log(a) + detail::kLn2<T>;
  return std::copysign(a < detail::kSquareIsHuge<T> ? small : large, x);
}

/// NaN below 1.
template <typename T>
PHI_HD T acosh(T x) {
  const T t = x - T(1);
  const T small = log1p(t + std::sqrt(t * (t + T(2))));
  const T y = x < detail::kSquareIsHuge<T> ? small : log(x) + detail::kLn2<T>;
  return x < T(1) ? std::numeric_limits<T>::quiet_NaN() : y;
}

/// NaN outside [-1, 1].
template <typename T>
PHI_HD T atanh(T x) {
  const T a = std::fabs(x);
  return std::copysign(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace phi::fast
