// The standard normal distribution and GELU, in forms that compilers vectorise, as fast_math.h has
// elementary functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast_math.h"

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
  constexpr float kTwiceLn2 = 1.38629436f;
  const float square = u * u;
  const float low = std::fma(u, u, -square);
  const float shifted = square * (-0.5f * kLog2e) + kRound;
  const float s = std::fma(shifted - kRound, kTwiceLn2, square) + low;
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

/// Phi(-|x|) with the |x| and the bell that it is from, which is lifted by 2^24 so that powers of 2
/// are normal numbers. From 14.4 on the tail and the density are 0 in float, as they come out
/// there.
struct NormalTail {
  float tail;
  float magnitude;
  float lifted_bell;
};
PHI_HD NormalTail normal_tail(float x) {
  const float magnitude = std::fabs(x);
  const float u = magnitude > 14.4f ? 14.4f : magnitude;  // NaN stays
  const auto [p, shifted] = bell(u);
  const auto [numerator, denominator] = tail_by_bell(u);
  const float e = p * pow2(std::bit_cast<uint32_t>(shifted) + 24u);
  return {e * numerator / (denominator * 0x1p24f), u, e};
}
}  // namespace detail

/// Relative accuracy 1e-6 in the lower tail too.
PHI_HD Normal<float> normal(float x) {
  const detail::NormalTail of = detail::normal_tail(x);
  constexpr float kDensityByBell = 0.99999144f;
  return {x < 0.0f ? of.tail : 1.0f - of.tail, kDensityByBell * 0x1p-24f * of.lifted_bell};
}
PHI_HD Normal<double> normal(double x) {
  return {0.5 * std::erfc(x * -0.70710678118654752440),
          0.39894228040143267794 * std::exp(-0.5 * x * x)};
}
template <typename T>
PHI_HD T normal_cdf(T x) {
  return normal(x).cdf;
}

/// x Phi(x).
PHI_HD float gelu(float x) {
  const detail::NormalTail of = detail::normal_tail(x);
  return x < 0.0f ? x * of.tail : x - of.magnitude * of.tail;
}
PHI_HD double gelu(double x) { return x * normal_cdf(x); }

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
