// Exponentials and logarithms near their zeros, of other bases, and the hyperbolic functions, in
// forms that compilers vectorise, as fast_math.h has others: float by polynomials and by exp and
// log of there, double by the standard library. Infinities, NaN and -0 come out as from the
// standard library.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/fast_math.h"

namespace phi::fast {

/// exp(x) - 1, by halves, which do not overflow before the result does.
PHI_HD float expm1(float x) {
  float inside = x < -30.0f ? -30.0f : x;  // NaN passes both comparisons
  inside = inside > 89.0f ? 89.0f : inside;
  const auto [half, rest] = detail::split_exponent(inside, -1.0f);
  const float q = detail::exp_tail(rest) * (rest * rest) + rest;
  const float y = half * q + (half - 0.5f);
  return std::fabs(x) < 0x1p-26f ? x : y + y;
}
PHI_HD double expm1(double x) { return std::expm1(x); }

/// exp(x) - 1 for x <= 87, bit for bit as expm1, but that it is 0 at -0.
PHI_HD float expm1_below(float x) { return expm1_inside(x < -30.0f ? -30.0f : x); }
PHI_HD double expm1_below(double x) { return std::expm1(x); }

namespace detail {
/// log(1 + x) by y = log(u) for u = 1 + x. What that rounds away is put back by the ratio x / (u -
/// 1), whose errors cancel (W. Kahan).
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
PHI_HD double log1p(double x) { return std::log1p(x); }

/// For -1 < x < inf.
PHI_HD float log1p_inside(float x) {
  const float u = 1.0f + x;
  return detail::log1p_by_log(x, u, log_inside(u));
}

/// log(1 + x) for 0 <= x <= 1, such as exp(-|y|), in fewer steps that wait for each other: 2
/// atanh(s) for s = x / (2 + x), a polynomial with the least relative error (own fit, 4e-9).
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
PHI_HD double log1p_of_fraction(double x) { return std::log1p(x); }

namespace detail {
PHI_HD float log2_of(SplitFloat x) {
  return x.exponent + log_polynomial(x.mantissa - 1.0f, 0.0f) * kLog2e;
}
inline constexpr float kLog10e = 0.43429448190325183f;
}  // namespace detail

/// Powers of 2 give whole numbers.
PHI_HD float log2(float x) { return detail::log_ends(x, detail::log2_of(detail::split(x))); }
PHI_HD double log2(double x) { return std::log2(x); }

PHI_HD float log10(float x) { return log(x) * detail::kLog10e; }
PHI_HD double log10(double x) { return std::log10(x); }

/// Of positive normal floats.
PHI_HD float log2_inside(float x) { return detail::log2_of(detail::split_normal(x)); }
PHI_HD float log10_inside(float x) { return log_inside(x) * detail::kLog10e; }

namespace detail {
/// exp(|x| / 2), whose square may be half as large again as the largest float without harm;
/// exp(87), whose square is infinite, for more.
PHI_HD float half_exp(float x) {
  const float half = 0.5f * std::fabs(x);
  return exp_inside(half > kExpInside ? kExpInside : half);
}
}  // namespace detail

/// The polynomial interpolates (sinh(x) / x - 1) / x^2 for |x| <= 1 (own fit, relative error 1e-9).
PHI_HD float sinh(float x) {
  const float z = x * x;
  float p = 2.8062802582e-6f;
  p = p * z + 1.9838101969e-4f;
  p = p * z + 8.3333396759e-3f;
  p = p * z + 1.6666666647e-1f;
  const float e = detail::half_exp(x);
  const float large = std::copysign((0.5f * e) * e - 0.5f / e / e, x);
  return std::fabs(x) <= 1.0f ? p * z * x + x : large;
}
PHI_HD double sinh(double x) { return std::sinh(x); }

PHI_HD float cosh(float x) {
  const float e = detail::half_exp(x);
  return (0.5f * e) * e + 0.5f / e / e;
}
PHI_HD double cosh(double x) { return std::cosh(x); }

namespace detail {
inline constexpr float kLn2 = 0.69314718055994531f;
inline constexpr float kSquareIsHuge = 1e9f;  // 1 is lost beside its square
}  // namespace detail

PHI_HD float asinh(float x) {
  const float a = std::fabs(x);
  const float z = a * a;
  const float small = log1p(a + z / (1.0f + std::sqrt(z + 1.0f)));
  const float large = log(a) + detail::kLn2;
  return std::copysign(a < detail::kSquareIsHuge ? small : large, x);
}
PHI_HD double asinh(double x) { return std::asinh(x); }

/// NaN below 1.
PHI_HD float acosh(float x) {
  const float t = x - 1.0f;
  const float small = log1p(t + std::sqrt(t * (t + 2.0f)));
  const float y = x < detail::kSquareIsHuge ? small : log(x) + detail::kLn2;
  return x < 1.0f ? std::numeric_limits<float>::quiet_NaN() : y;
}
PHI_HD double acosh(double x) { return std::acosh(x); }

/// NaN outside [-1, 1].
PHI_HD float atanh(float x) {
  const float a = std::fabs(x);
  return std::copysign(0.5f * log1p(2.0f * a / (1.0f - a)), x);
}
PHI_HD double atanh(double x) { return std::atanh(x); }

}  // namespace phi::fast
