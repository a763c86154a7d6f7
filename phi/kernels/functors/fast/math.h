// Vectorisable elementary functions: branch-free polynomials (parts.h) for float and double.
// Infinities and NaN behave as in the standard library.
//
//   float y = phi::fast::exp(x);   // within 2 ulp (1 of double), subnormal results included
//
// Every choice between cases is a select, not a branch.
#pragma once

#include <cmath>

#include "phi/kernels/functors/fast/parts.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

/// A function named .._inside equals the function without the suffix bit for bit for arguments in a
/// range, and is faster because it skips the special cases. This is the limit of |x| for
/// exp_inside, sigmoid_inside and expm1_inside of float.
inline constexpr float kExpInside = detail::FloatTraits<float>::kExpInside;

template <typename T>
PHI_HD T exp(T x) {
  return detail::exp_of(x);
}

template <typename T>
PHI_HD T exp_inside(T x) {
  const auto [power, rest] = detail::split_exponent(x);
  return detail::exp_polynomial(rest) * power;
}

/// exp(x) for x <= kExpInside + 1, such as differences to a maximum, faster than exp. Within 2 ulp;
/// 0 for x < -kExpInside, where exp is almost subnormal (1e-37 in float).
template <typename T>
PHI_HD T exp_or_zero(T x) {
  constexpr T kLowest = -detail::FloatTraits<T>::kExpInside;
  const T p = exp_inside(x < kLowest ? kLowest : x);
  return x < kLowest ? T(0) : p;
}

/// exp(x) - 1, accurate near 0; 0 at -0.
template <typename T>
PHI_HD T expm1_inside(T x) {
  const auto [power, rest] = detail::split_exponent(x);
  const T q = detail::exp_tail(rest) * (rest * rest) + rest;
  return power * q + (power - T(1));
}

template <typename T>
PHI_HD T log(T x) {
  return detail::log_ends(x, detail::log_of(detail::split(x)));
}

/// For positive normal numbers.
template <typename T>
PHI_HD T log_inside(T x) {
  return detail::log_of(detail::split_normal(x));
}

/// t / (t + 2) for t = exp(2 |x|) - 1.
template <typename T>
PHI_HD T tanh(T x) {
  constexpr T kMost = detail::FloatTraits<T>::kTanhIs1;
  const T magnitude = std::fabs(x);
  const T inside = magnitude > kMost ? kMost : magnitude;  // NaN stays
  const T t = expm1_inside(T(2) * inside);
  return std::copysign(t / (t + T(2)), x);
}

/// exp(x) for x <= 0, faster than exp. Within 2 ulp, including subnormal results, which are scaled
/// by 2^64 internally.
template <typename T>
PHI_HD T exp_of_negative(T x) {
  constexpr T kLowest = detail::FloatTraits<T>::kExpIsZero;
  const auto [power, rest] = detail::split_exponent(x < kLowest ? kLowest : x, T(64));  // NaN stays
  return detail::exp_polynomial(rest) * power * T(0x1p-64);
}

/// 1 / (1 + exp(-x)) with full relative accuracy for very negative x, where exp(-x) overflows: both
/// terms are scaled by 2^-64.
template <typename T>
PHI_HD T sigmoid(T x) {
  constexpr T kLowest = detail::FloatTraits<T>::kExpIsZero - T(1);
  constexpr T kScale = T(0x1p-64);
  T inside = x < kLowest ? kLowest : x;      // NaN passes both comparisons
  inside = inside > T(43) ? T(43) : inside;  // 1 + e^43 rounds to e^43
  const auto [power, rest] = detail::split_exponent(-inside, T(-64));
  const T e = detail::exp_polynomial(rest) * power;
  return kScale / (kScale + e);
}

template <typename T>
PHI_HD T sigmoid_inside(T x) {
  return T(1) / (T(1) + exp_inside(-x));
}

}  // namespace phi::fast
