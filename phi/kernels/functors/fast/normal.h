// The standard normal distribution and GELU, in forms that compilers vectorise, as math.h has
// elementary functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast/math.h"

namespace phi::fast {

/// The standard normal distribution at x: its function Phi(x) and its density.
template <typename T>
struct Normal {
  T cdf;
  T pdf;
};

namespace detail {
/// 0.39894572 exp(-u^2 / 2), about the normal density, as p 2^n: n is in the low bits of `shifted`.
/// The square, which a float would round to many ulp of the result, is reduced by powers of 2 in
/// two parts. The polynomial of twice the rest has the least relative error (own fit, 8e-8).
struct Bell {
  float p;
  float shifted;
};
PHI_HD Bell bell(float u) {
  using R = Real<float>;
  constexpr float kTwiceLn2 = 1.38629436f;
  const float square = u * u;
  const float low = std::fma(u, u, -square);
  const float shifted = square * (-0.5f * R::kLog2e) + R::kRound;
  const float s = std::fma(shifted - R::kRound, kTwiceLn2, square) + low;
  float p = -1.03447037e-4f;
  p = p * s + 1.04512627e-3f;
  p = p * s - 8.311822e-3f;
  p = p * s + 4.98671082e-2f;
  p = p * s - 1.99472785e-1f;
  p = p * s + 3.98945722e-1f;
  return {p, shifted};
}

/// Phi(-u) is bell(u) numerator / denominator, with the least relative error over 0 <= u <= 14.4
/// (own fit, 6e-9; it makes good what is missing of kTwiceLn2, exp(1.4e-9 u^2)).
struct Ratio {
  float numerator;
  float denominator;
};
PHI_HD Ratio tail_by_bell(float u) {
  float numerator = u + 9.83803082f;
  numerator = numerator * u + 4.42471161e1f;
  numerator = numerator * u + 1.05598106e2f;
  numerator = numerator * u + 1.20084953e2f;
  float denominator = u + 9.83865356f;
  denominator = denominator * u + 4.52342339e1f;
  denominator = denominator * u + 1.15620552e2f;
  denominator = denominator * u + 1.60704971e2f;
  denominator = denominator * u + 9.58147507e1f;
  return {numerator, denominator};
}

/// Phi(-|x|), |x| where that and the density are not 0, and the density.
template <typename T>
struct NormalTail {
  T tail;
  T magnitude;
  T density;
};
/// The bell is lifted by 2^24 so that powers of 2 are normal numbers. From 14.4 on the tail and the
/// density are 0 in float, as they come out there. Relative accuracy 1e-6.
PHI_HD NormalTail<float> normal_tail(float x) {
  constexpr float kDensityByBell = 0.99999144f;
  const float magnitude = std::fabs(x);
  const float u = magnitude > 14.4f ? 14.4f : magnitude;  // NaN stays
  const auto [p, shifted] = bell(u);
  const auto [numerator, denominator] = tail_by_bell(u);
  const float e = p * pow2(std::bit_cast<uint32_t>(shifted) + 24u);
  return {e * numerator / (denominator * 0x1p24f), u, kDensityByBell * 0x1p-24f * e};
}
/// The same in double, from 38.6 on. The density's exponent is half a square in two parts; the tail
/// by Phi(-u) / exp(-u^2 / 2) (1 + 5 u / 4) as a polynomial in (u - 6) / (u + 6) (own fit, 1e-17;
/// the transformation is of M. Shepherd and J. Laframboise, Mathematics of Computation 36, 1981).
PHI_HD NormalTail<double> normal_tail(double x) {
  constexpr double kInverseRootOfTwoPi = 0.39894228040143267794;
  const double magnitude = std::fabs(x);
  const double u = magnitude > 38.6 ? 38.6 : magnitude;  // NaN stays
  const double square = u * u;
  const double low = std::fma(u, u, -square);
  const auto [power, rest] = split_exponent(-0.5 * square, 64.0);
  const double e = exp_polynomial(std::fma(-0.5, low, rest)) * power;  // lifted by 2^64
  const double t = (u - 6.0) / (u + 6.0);
  const double p = long_polynomial(
      t, 1.9883375676643107e-09, 3.5426375219899924e-09, -2.031905893138954e-08,
      -2.3759959157959266e-08, 1.7162672738902057e-07, -1.6221545963867092e-08,
      -1.277994628854919e-06, 2.40903481084548e-06, 5.396341265881958e-06, -3.4313228017945455e-05,
      5.23709512703542e-05, 0.00014626854027715338, -0.0011313365597006404, 0.003922932432510677,
      -0.009679256280582927, 0.018770189175709592, -0.02945501876929331, 0.03700421878483686,
      -0.03438268482394505, 0.015009776475308472, 0.02330640734041969, -0.07548251951795866,
      0.5506241717577982);
  return {e * p / std::fma(1.25, u, 1.0) * 0x1p-64, u, kInverseRootOfTwoPi * 0x1p-64 * e};
}
}  // namespace detail

template <typename T>
PHI_HD Normal<T> normal(T x) {
  const detail::NormalTail<T> of = detail::normal_tail(x);
  return {x < T(0) ? of.tail : T(1) - of.tail, of.density};
}
template <typename T>
PHI_HD T normal_cdf(T x) {
  return normal(x).cdf;
}

/// x Phi(x).
template <typename T>
PHI_HD T gelu(T x) {
  const detail::NormalTail<T> of = detail::normal_tail(x);
  return x < T(0) ? x * of.tail : x - of.magnitude * of.tail;
}

/// For |x| <= kGeluInside, where the bell is a normal number.
inline constexpr float kGeluInside = 13.0f;
PHI_HD float gelu_inside(float x) {
  const float magnitude = std::fabs(x);
  const auto [p, shifted] = detail::bell(magnitude);
  const auto [numerator, denominator] = detail::tail_by_bell(magnitude);
  const float e =
      std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (std::bit_cast<uint32_t>(shifted) << 23));
  return (x < 0.0f ? 0.0f : x) - magnitude * (e * numerator / denominator);
}

/// The tanh approximation of GELU is x sigmoid(this): written with 1 + tanh(z) = 2 sigmoid(2 z),
/// which keeps its relative accuracy for negative x.
template <typename T>
PHI_HD T gelu_tanh_exponent(T x) {
  constexpr T kTwoSqrt2OverPi = T(1.5957691216057307118);
  return kTwoSqrt2OverPi * (x + T(0.044715) * x * x * x);
}
/// |x| for which that is within kExpInside.
inline constexpr float kGeluTanhInside = 9.9f;

}  // namespace phi::fast
