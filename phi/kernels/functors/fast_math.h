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

}  // namespace detail

PHI_HD float exp(float x) {
  float inside = x < -104.0f ? -104.0f : x;  // NaN passes both comparisons
  inside = inside > 89.0f ? 89.0f : inside;
  // Adding 1.5 * 2^23 rounds to the nearest integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = inside * detail::kLog2e + kRound;
  const float n = shifted - kRound;
  const uint32_t bits = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
  const float r = (inside - n * detail::kLn2High) - n * detail::kLn2Low;
  const float p = detail::exp_polynomial(r);
  // Two factors, since 2^n itself may be out of range at both ends.
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(bits) >> 1);
  return p * detail::pow2(half) * detail::pow2(bits - half);
}
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

namespace detail {

/// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive finite x.
struct SplitFloat {
  float mantissa;
  float exponent;
};
PHI_HD SplitFloat split(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = tiny ? x * 0x1p23f : x;
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled) - kSqrtHalf;
  const float e = static_cast<float>(static_cast<int32_t>(bits) >> 23) - (tiny ? 23.0f : 0.0f);
  return {std::bit_cast<float>((bits & 0x007fffffu) + kSqrtHalf), e};
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
  return m + (p * m * z + low - 0.5f * z);
}

/// What a logarithm of x is: `inside`, unless x is negative, 0, infinite or NaN.
PHI_HD float log_ends(float x, float inside) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  float y = x < kInf ? inside : x;  // inf and NaN are their own logarithms
  y = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : y;
  return x == 0.0f ? -kInf : y;
}

}  // namespace detail

PHI_HD float log(float x) {
  const auto [mantissa, e] = detail::split(x);
  const float y = detail::log_polynomial(mantissa - 1.0f, e * detail::kLn2Low);
  return detail::log_ends(x, y + e * detail::kLn2High);
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
  const float large = 1.0f - 2.0f / (exp(2.0f * magnitude) + 1.0f);
  return std::copysign(magnitude < 0.625f ? small : large, x);  // -0 too
}
PHI_HD double tanh(double x) { return std::tanh(x); }

/// exp(x) for x <= 0 at two thirds of exp's cost: within 2 ulp, subnormal results included, which
/// are lifted by 2^64 on the way. The polynomial has the least relative error (own fit, 2e-9).
PHI_HD float exp_of_negative(float x) {
  constexpr float kRound = 12582912.0f;
  const float inside = x < -104.0f ? -104.0f : x;  // NaN stays
  const float shifted = inside * detail::kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = (inside - n * detail::kLn2High) - n * detail::kLn2Low;
  float p = 1.383671018e-3f;
  p = p * r + 8.374898186e-3f;
  p = p * r + 4.166823237e-2f;
  p = p * r + 1.666641919e-1f;
  p = p * r + 4.999999204e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * detail::pow2(std::bit_cast<uint32_t>(shifted) + 64u) * 0x1p-64f;
}
PHI_HD double exp_of_negative(double x) { return std::exp(x); }

/// 1 / (1 + exp(-x)), with full relative accuracy for very negative x.
template <typename T>
PHI_HD T sigmoid(T x) {
  const T e = exp_of_negative(-std::fabs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// The standard normal distribution at x: its function Phi(x) and its density.
template <typename T>
struct Normal {
  T cdf;
  T pdf;
};

namespace detail {
/// 2^64 exp(-u^2 / 2) for 0 <= u <= 14.5, a normal float all the way. The square, which a float
/// would round to many ulp of the result, is reduced by powers of 2 inside an FMA; the polynomial
/// of twice the rest has the least relative error of those that are 1 at 0 (own fit, 9.2e-8).
PHI_HD float lifted_bell(float u) {
  constexpr float kRound = 12582912.0f;
  const float shifted = (u * u) * (-0.5f * kLog2e) + kRound;
  const float n = shifted - kRound;
  const float s = std::fma(u, u, n * (2.0f * kLn2High)) + n * (2.0f * kLn2Low);
  float p = -2.590695820e-4f;
  p = p * s + 2.618649467e-3f;
  p = p * s - 2.083455014e-2f;
  p = p * s + 1.249978653e-1f;
  p = p * s - 4.999998527e-1f;
  p = p * s + 1.0f;
  return p * pow2(std::bit_cast<uint32_t>(shifted) + 64u);
}
}  // namespace detail

/// Relative accuracy 1e-6 in the lower tail too.
/// For u = |x|, Phi(-u) = exp(-u^2 / 2) N(u) / D(u), the quotient with the least relative error
/// over 0 <= u <= 14.5 (own fit, 6e-9). From 14.5 on both are 0 in float, as they come out there.
PHI_HD Normal<float> normal(float x) {
  const float magnitude = std::fabs(x);
  const float u = magnitude > 14.5f ? 14.5f : magnitude;  // NaN stays
  float numerator = 4.116281630e-3f;
  numerator = numerator * u + 4.063305521e-2f;
  numerator = numerator * u + 1.832346495e-1f;
  numerator = numerator * u + 4.382943221e-1f;
  numerator = numerator * u + 5.000000030e-1f;
  float denominator = 1.031786817e-2f;
  denominator = denominator * u + 1.018584123e-1f;
  denominator = denominator * u + 4.694693349e-1f;
  denominator = denominator * u + 1.202501163f;
  denominator = denominator * u + 1.674473625f;
  denominator = denominator * u + 1.0f;
  const float e = detail::lifted_bell(u);
  const float tail = e * numerator / denominator * 0x1p-64f;
  return {x < 0.0f ? tail : 1.0f - tail, 0.3989422804f * 0x1p-64f * e};
}
PHI_HD Normal<double> normal(double x) {
  return {0.5 * std::erfc(x * -0.70710678118654752440),
          0.39894228040143267794 * std::exp(-0.5 * x * x)};
}
template <typename T>
PHI_HD T normal_cdf(T x) {
  return normal(x).cdf;
}

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
