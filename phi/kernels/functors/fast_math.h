// Elementary functions that compilers vectorise: branch-free polynomials for float, the standard
// library for double. Infinities and NaN come out as from the standard library.
//
//   float y = phi::fast::exp(x);   // within 2 ulp, subnormal results included
//
// Range reductions and polynomials of exp, log, tanh, sin and cos follow S. Moshier's Cephes
// library (expf, logf, tanhf, sinf); every choice between cases is a select, not a jump.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "phi/kernels/functors/hd.h"

namespace phi::fast {

namespace detail {

inline constexpr float kLn2High = 0.693359375f;
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kLog2e = 1.44269504088896341f;

/// 2^n for -126 <= n <= 127; anything else is garbage, but no trap.
PHI_HD float pow2(uint32_t n) { return std::bit_cast<float>((n + 127u) << 23); }

/// exp(r) for |r| <= ln(2) / 2.
PHI_HD float exp_polynomial(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r + 1.0f;
}

/// exp(high + low), where `low` is far smaller than `high`.
PHI_HD float exp_sum(float high, float low) {
  float x = high < -104.0f ? -104.0f : high;  // NaN passes both comparisons
  x = x > 89.0f ? 89.0f : x;
  // Adding 1.5 * 2^23 rounds to the nearest integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * kLog2e + kRound;
  const float n = shifted - kRound;
  const uint32_t bits = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
  const float r = ((x - n * kLn2High) - n * kLn2Low) + low;
  const float p = exp_polynomial(r);
  // Two factors, since 2^n itself may be out of range at both ends.
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(bits) >> 1);
  return p * pow2(half) * pow2(bits - half);
}

}  // namespace detail

PHI_HD float exp(float x) { return detail::exp_sum(x, 0.0f); }
PHI_HD double exp(double x) { return std::exp(x); }

/// exp(x) for x <= 88, such as differences to a maximum, at half of exp's cost: within 2 ulp, and 0
/// for x < -87, where exp has less than 1e-37 to give.
PHI_HD float exp_or_zero(float x) {
  constexpr float kRound = 12582912.0f;
  constexpr float kLowest = -87.0f;
  const float clamped = x < kLowest ? kLowest : x;
  const float shifted = clamped * detail::kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * detail::kLn2High) - n * detail::kLn2Low;
  float p = detail::exp_polynomial(r);
  p *= detail::pow2(std::bit_cast<uint32_t>(shifted));  // kRound's own bits are shifted out
  return x < kLowest ? 0.0f : p;
}
PHI_HD double exp_or_zero(double x) { return std::exp(x); }

PHI_HD float log(float x) {
  constexpr float kMinNormal = std::numeric_limits<float>::min();
  const bool tiny = x < kMinNormal;
  const float scaled = tiny ? x * 0x1p23f : x;
  // The exponent e and m in [sqrt(1/2), sqrt(2)) with scaled = m * 2^e.
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled) - kSqrtHalf;
  const float e = static_cast<float>(static_cast<int32_t>(bits) >> 23) - (tiny ? 23.0f : 0.0f);
  const float m = std::bit_cast<float>((bits & 0x007fffffu) + kSqrtHalf) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z + e * detail::kLn2Low - 0.5f * z;
  y = (m + y) + e * detail::kLn2High;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  y = x < kInf ? y : x;  // inf and NaN are their own logarithms
  y = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : y;
  return x == 0.0f ? -kInf : y;
}
PHI_HD double log(double x) { return std::log(x); }

PHI_HD float tanh(float x) {
  const float magnitude = std::fabs(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float large = 1.0f - 2.0f / (detail::exp_sum(2.0f * magnitude, 0.0f) + 1.0f);
  return std::copysign(magnitude < 0.625f ? small : large, x);  // -0 too
}
PHI_HD double tanh(double x) { return std::tanh(x); }

/// 1 / (1 + exp(-x)), with full relative accuracy for very negative x.
template <typename T>
PHI_HD T sigmoid(T x) {
  const T e = exp(-std::fabs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// The standard normal distribution at x: its function Phi(x) and its density.
template <typename T>
struct Normal {
  T cdf;
  T pdf;
};

/// Relative accuracy 1e-6 in the lower tail too.
/// For u = |x|, Phi(-u) = exp(-u^2 / 2) * t * P(t) with t = 1 / (1 + 0.35 u); P interpolates at the
/// Chebyshev nodes of 0 <= u <= 14.5 (own fit, relative error 4e-8). Farther out both are 0 in
/// float, as they come out at 14.5: u stops there, since its square's parts have no bounds.
PHI_HD Normal<float> normal(float x) {
  const float magnitude = std::fabs(x);
  const float u = magnitude > 14.5f ? 14.5f : magnitude;  // NaN stays
  const float t = 1.0f / (1.0f + 0.35f * u);
  float p = -2.973227581e-02f;
  p = p * t + 1.467839861e-01f;
  p = p * t - 2.614105432e-01f;
  p = p * t + 1.655101648e-01f;
  p = p * t - 2.732191058e-02f;
  p = p * t + 1.072124994e-01f;
  p = p * t + 1.194250927e-01f;
  p = p * t + 1.399143339e-01f;
  p = p * t + 1.396186350e-01f;
  // u^2 / 2 in two parts: the square of the upper 12 bits of u is exact.
  const float upper = std::bit_cast<float>(std::bit_cast<uint32_t>(u) & 0xfffff000u);
  const float rest = (u - upper) * (u + upper);
  const float e = detail::exp_sum(-0.5f * upper * upper, -0.5f * rest);
  const float tail = e * t * p;
  return {x < 0.0f ? tail : 1.0f - tail, 0.3989422804f * e};
}
PHI_HD Normal<double> normal(double x) {
  return {0.5 * std::erfc(x * -0.70710678118654752440),
          0.39894228040143267794 * std::exp(-0.5 * x * x)};
}
template <typename T>
PHI_HD T normal_cdf(T x) {
  return normal(x).cdf;
}

/// sin and cos of 2 pi `turns` for |turns| <= 2^20.
PHI_HD void sincos_turns(float turns, float* sine, float* cosine) {
  constexpr float kRound = 12582912.0f;
  const float shifted = 4.0f * turns + kRound;
  const uint32_t quarter = std::bit_cast<uint32_t>(shifted);
  const float a = (turns - 0.25f * (shifted - kRound)) * 6.283185307179586f;
  const float z = a * a;
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  s = s * z * a + a;
  float c = 2.443315711809948e-5f;
  c = c * z - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * z * z - 0.5f * z + 1.0f;
  // A quarter turn swaps sine and cosine; half a turn negates both.
  const bool swap = (quarter & 1u) != 0;
  const float sin0 = swap ? c : s;
  const float cos0 = swap ? s : c;
  *sine = (quarter & 2u) != 0 ? -sin0 : sin0;
  *cosine = ((quarter + 1u) & 2u) != 0 ? -cos0 : cos0;
}

}  // namespace phi::fast
