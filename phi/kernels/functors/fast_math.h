// Elementary functions that compilers vectorise: branch-free polynomials for float, the standard
// library for double. Infinities and NaN come out as from the standard library.
//
//   float y = phi::fast::exp(x);   // within 2 ulp, subnormal results included
//
// Range reductions of exp, log, sin and cos, and the polynomials of the last three, follow
// S. Moshier's Cephes library (expf, logf, sinf); every choice between cases is a select, not a
// jump.
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
inline constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: added, it rounds to a whole number

/// 2^n for -126 <= n <= 127; anything else is garbage, but no trap.
PHI_HD float pow2(uint32_t n) { return std::bit_cast<float>((n + 127u) << 23); }

/// x = n ln(2) + rest with |rest| <= ln(2) / 2, and the power of 2 of n + lift, if that is in
/// pow2's range.
struct PowerAndRest {
  float power;
  float rest;
};
PHI_HD PowerAndRest split_exponent(float x, float lift = 0.0f) {
  // The rounded number is in the low bits; the higher ones of kRound are shifted out.
  const float round = kRound + 127.0f + lift;
  const float shifted = x * kLog2e + round;
  const float n = shifted - round;
  const float rest = (x - n * kLn2High) - n * kLn2Low;
  return {std::bit_cast<float>(std::bit_cast<uint32_t>(shifted) << 23), rest};
}

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, so that exp(r) has the least relative error (own
/// fit, 2e-9).
PHI_HD float exp_tail(float r) {
  float p = 1.383671018e-3f;
  p = p * r + 8.374898186e-3f;
  p = p * r + 4.166823237e-2f;
  p = p * r + 1.666641919e-1f;
  return p * r + 4.999999204e-1f;
}
/// exp(r) for |r| <= ln(2) / 2.
PHI_HD float exp_polynomial(float r) { return (exp_tail(r) * r + 1.0f) * r + 1.0f; }

}  // namespace detail

/// Functions named .._inside are those without the name for arguments of a range, bit for bit, in
/// fewer steps: where ends need no care.
inline constexpr float kExpInside = 87.0f;  // |x| of exp_inside, sigmoid_inside, expm1_inside

PHI_HD float exp(float x) {
  float inside = x < -104.0f ? -104.0f : x;  // NaN passes both comparisons
  inside = inside > 89.0f ? 89.0f : inside;
  const float shifted = inside * detail::kLog2e + detail::kRound;
  const float n = shifted - detail::kRound;
  const uint32_t bits = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(detail::kRound);
  const float r = (inside - n * detail::kLn2High) - n * detail::kLn2Low;
  const float p = detail::exp_polynomial(r);
  // Two factors, since 2^n itself may be out of range at both ends.
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(bits) >> 1);
  return p * detail::pow2(half) * detail::pow2(bits - half);
}
PHI_HD double exp(double x) { return std::exp(x); }

PHI_HD float exp_inside(float x) {
  const auto [power, rest] = detail::split_exponent(x);
  return detail::exp_polynomial(rest) * power;
}

/// exp(x) for x <= 88, such as differences to a maximum, at less than exp's cost: within 2 ulp, and
/// 0 for x < -87, where exp has less than 1e-37 to give.
PHI_HD float exp_or_zero(float x) {
  constexpr float kLowest = -87.0f;
  const float p = exp_inside(x < kLowest ? kLowest : x);
  return x < kLowest ? 0.0f : p;
}
PHI_HD double exp_or_zero(double x) { return std::exp(x); }

/// exp(x) - 1, at 0 too, but that it is 0 at -0.
PHI_HD float expm1_inside(float x) {
  const auto [power, rest] = detail::split_exponent(x);
  const float q = detail::exp_tail(rest) * (rest * rest) + rest;
  return power * q + (power - 1.0f);
}

namespace detail {

/// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive finite x.
struct SplitFloat {
  float mantissa;
  float exponent;
};
PHI_HD SplitFloat split_normal(float x) {
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  const uint32_t bits = std::bit_cast<uint32_t>(x) - kSqrtHalf;
  const float e = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  return {std::bit_cast<float>((bits & 0x007fffffu) + kSqrtHalf), e};
}
PHI_HD SplitFloat split(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const auto [mantissa, e] = split_normal(tiny ? x * 0x1p23f : x);
  return {mantissa, e - (tiny ? 23.0f : 0.0f)};
}

/// log(1 + m) for 1 + m a mantissa as above, and `low` far smaller.
PHI_HD float log_polynomial(float m, float low) {
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
  // Compilers are free in which of two products they fuse; log_inside needs the same as log.
  return m + std::fma(-0.5f, z, std::fma(p * m, z, low));
}

/// What a logarithm of x is: `inside`, unless x is negative, 0, infinite or NaN.
PHI_HD float log_ends(float x, float inside) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float y = x < kInf ? inside : x;  // inf and NaN are their own logarithms
  y = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : y;
  return x == 0.0f ? -kInf : y;
}

}  // namespace detail

namespace detail {
PHI_HD float log_of(SplitFloat x) {
  return log_polynomial(x.mantissa - 1.0f, x.exponent * kLn2Low) + x.exponent * kLn2High;
}
}  // namespace detail

PHI_HD float log(float x) { return detail::log_ends(x, detail::log_of(detail::split(x))); }
PHI_HD double log(double x) { return std::log(x); }

/// Of positive normal floats.
PHI_HD float log_inside(float x) { return detail::log_of(detail::split_normal(x)); }

/// t / (t + 2) for t = exp(2 |x|) - 1.
PHI_HD float tanh(float x) {
  const float magnitude = std::fabs(x);
  const float inside = magnitude > 10.0f ? 10.0f : magnitude;  // NaN stays; 1 from there on
  const float t = expm1_inside(2.0f * inside);
  return std::copysign(t / (t + 2.0f), x);
}
PHI_HD double tanh(double x) { return std::tanh(x); }

/// exp(x) for x <= 0 at less than exp's cost: within 2 ulp, subnormal results included, which
/// are lifted by 2^64 on the way.
PHI_HD float exp_of_negative(float x) {
  const auto [power, rest] = detail::split_exponent(x < -104.0f ? -104.0f : x, 64.0f);  // NaN stays
  return detail::exp_polynomial(rest) * power * 0x1p-64f;
}
PHI_HD double exp_of_negative(double x) { return std::exp(x); }

/// 1 / (1 + exp(-x)), with full relative accuracy for very negative x: there exp(-x) is more than a
/// float holds, but not if both terms are smaller by 2^-64.
PHI_HD float sigmoid(float x) {
  float inside = x < -105.0f ? -105.0f : x;  // NaN passes both comparisons
  inside = inside > 43.0f ? 43.0f : inside;
  const auto [power, rest] = detail::split_exponent(-inside, -64.0f);
  const float e = detail::exp_polynomial(rest) * power;
  return 0x1p-64f / (0x1p-64f + e);
}
PHI_HD double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

PHI_HD float sigmoid_inside(float x) { return 1.0f / (1.0f + exp_inside(-x)); }

namespace detail {
/// sin and cos of `quarter` quarter turns and `a` more, |a| <= pi / 4.
PHI_HD void sincos_of(uint32_t quarter, float a, float* sine, float* cosine) {
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
}  // namespace detail

/// sin and cos of 2 pi `turns` for |turns| <= 2^20.
PHI_HD void sincos_turns(float turns, float* sine, float* cosine) {
  constexpr float kRound = 12582912.0f;
  const float shifted = 4.0f * turns + kRound;
  const float a = (turns - 0.25f * (shifted - kRound)) * 6.283185307179586f;
  detail::sincos_of(std::bit_cast<uint32_t>(shifted), a, sine, cosine);
}

}  // namespace phi::fast
