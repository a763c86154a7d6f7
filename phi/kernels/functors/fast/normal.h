// Vectorisable functions of the standard normal distribution, and GELU.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast/math.h"

namespace phi::fast {

/// The standard normal distribution at x: Phi(x) and the density.
template <typename T>
struct Normal {
  T cdf;
  T pdf;
};

namespace detail {
/// exp(-u^2 / 2 (1 + kBellLoss)) as p 2^n, with n in the low bits of `shifted`. u^2 is reduced by
/// steps with 16 bits, so n steps are exact, and u^2 minus them is rounded once; u^2 itself would
/// be rounded by many ulp of the result. kBellLoss is the difference of a step from 2 ln 2. p is a
/// polynomial in the remainder (own fit of least relative error, 8e-8).
struct Bell {
  float p;
  float shifted;
  float square;
};
inline constexpr float kBellLoss = 2.0610482e-6f;
PHI_HD Bell bell(float u) {
  using R = FloatTraits<float>;
  constexpr float kStep = 45426.0f / 32768.0f;
  const float square = u * u;
  const float shifted = square * (-0.5f * R::kLog2e) + R::kRound;
  const float s = std::fma(u, u, std::fma(shifted, kStep, -R::kRound * kStep));
  float p = -2.59304186e-4f;
  p = p * s + 2.61972635e-3f;
  p = p * s - 2.08344422e-2f;
  p = p * s + 1.24997742e-1f;
  p = p * s - 5.00000954e-1f;
  p = p * s + 1.00000012f;
  return {p, shifted, square};
}

/// Phi(-u) = bell(u) numerator / denominator, with least relative error over 0 <= u <= 14.4 (own
/// fit, 6e-8 up to 1.5 and 1.7e-7 from 5.5 on). It compensates for kBellLoss.
struct Ratio {
  float numerator;
  float denominator;
};
PHI_HD Ratio tail_by_bell(float u) {
  float numerator = 3.01618675e-5f * u + 3.98217589e-1f;
  numerator = numerator * u + 3.1096034f;
  numerator = numerator * u + 1.00633917e1f;
  numerator = numerator * u + 1.54082527e1f;
  float denominator = u + 7.76672363f;
  denominator = denominator * u + 2.64890385e1f;
  denominator = denominator * u + 4.47146988e1f;
  denominator = denominator * u + 3.08165092e1f;
  return {numerator, denominator};
}

/// Phi(-|x|); |x|, clamped where tail and density become 0; and the density.
template <typename T>
struct NormalTail {
  T tail;
  T magnitude;
  T density;
};
/// The bell is scaled by 2^24, so that powers of 2 are normal numbers. From 14.4 on, tail and
/// density are 0 in float. Relative accuracy 1e-6.
PHI_HD NormalTail<float> normal_tail(float x) {
  constexpr float kLifted = 0.3989422804f * 0x1p-24f;
  const float magnitude = std::fabs(x);
  const float u = magnitude > 14.4f ? 14.4f : magnitude;  // NaN stays
  const auto [p, shifted, square] = bell(u);
  const auto [numerator, denominator] = tail_by_bell(u);
  const float e = p * pow2(std::bit_cast<uint32_t>(shifted) + 24u);
  const float density_by_bell = (kLifted * 0.5f * kBellLoss) * square + kLifted;
  return {e * numerator / (denominator * 0x1p24f), u, e * density_by_bell};
}
/// The same in double, with zeros from 38.6 on. The density's exponent is half a square in two
/// parts. The tail is Phi(-u) / exp(-u^2 / 2) (1 + 5 u / 4) as a polynomial in (u - 6) / (u + 6)
/// (own fit, 1e-17; the transformation is by M. Shepherd and J. Laframboise, Mathematics of
/// Computation 36, 1981).
PHI_HD NormalTail<double> normal_tail(double x) {
  constexpr double kInverseRootOfTwoPi = 0.39894228040143267794;
  const double magnitude = std::fabs(x);
  const double u = magnitude > 38.6 ? 38.6 : magnitude;  // NaN stays
  const double square = u * u;
  const double low = std::fma(u, u, -square);
  const auto [power, rest] = split_exponent(-0.5 * square, 64.0);
  const double e = exp_polynomial(std::fma(-0.5, low, rest)) * power;  // scaled by 2^64
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

/// The limit of |x| for gelu_inside: below it the bell is a normal number.
inline constexpr float kGeluInside = 13.0f;
PHI_HD float gelu_inside(float x) {
  const float magnitude = std::fabs(x);
  const auto [p, shifted, square] = detail::bell(magnitude);
  const auto [numerator, denominator] = detail::tail_by_bell(magnitude);
  const float e =
      std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (std::bit_cast<uint32_t>(shifted) << 23));
  return (x < 0.0f ? 0.0f : x) - magnitude * (e * numerator / denominator);
}

/// The tanh approximation of GELU is x sigmoid(z) for the z returned here. 1 + tanh(z) is written
/// as 2 sigmoid(2 z), which is accurate for negative x.
template <typename T>
PHI_HD T gelu_tanh_exponent(T x) {
  constexpr T kTwoSqrt2OverPi = T(1.5957691216057307118);
  return kTwoSqrt2OverPi * (x + T(0.044715) * x * x * x);
}
/// The limit of |x| for which gelu_tanh_exponent is within kExpInside.
inline constexpr float kGeluTanhInside = 9.9f;

}  // namespace phi::fast
