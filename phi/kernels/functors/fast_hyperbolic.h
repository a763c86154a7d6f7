// Exponentials and logarithms near their zeros, of other bases, and the hyperbolic functions, in
// forms that compilers vectorise, as fast_math.h has others: float by polynomials and by exp and
// log of there, double by the standard library. Infinities, NaN and -0 come out as from the
// standard library.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/fast_math.h"

namespace phi::fast {

/// exp(x) - 1. The polynomial interpolates (exp(x) - 1 - x) / x^2 at the Chebyshev nodes of
/// |x| <= 1/2 (own fit, relative error 1e-9).
PHI_HD float expm1(float x) {
  float p = 2.4922436429e-5f;
  p = p * x + 1.9962176227e-4f;
  p = p * x + 1.388873772e-3f;
  p = p * x + 8.3331820716e-3f;
  p = p * x + 4.1666667139e-2f;
  p = p * x + 1.6666667139e-1f;
  p = p * x + 0.5f;
  return std::fabs(x) <= 0.5f ? x * (p * x + 1.0f) : exp(x) - 1.0f;
}
PHI_HD double expm1(double x) { return std::expm1(x); }

/// log(1 + x). What 1 + x rounds away is put back by the ratio x / ((1 + x) - 1), whose errors
/// cancel (W. Kahan).
PHI_HD float log1p(float x) {
  const float u = 1.0f + x;
  const float d = u - 1.0f;
  const float y = log(u);
  const float corrected = y * (x / d);
  const float inside = d == 0.0f ? x : corrected;
  return u < std::numeric_limits<float>::infinity() ? inside : y;
}
PHI_HD double log1p(double x) { return std::log1p(x); }

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

/// Powers of 2 give whole numbers.
PHI_HD float log2(float x) {
  const auto [mantissa, e] = detail::split(x);
  return detail::log_ends(x, e + detail::log_polynomial(mantissa - 1.0f, 0.0f) * detail::kLog2e);
}
PHI_HD double log2(double x) { return std::log2(x); }

PHI_HD float log10(float x) { return log(x) * 0.43429448190325183f; }
PHI_HD double log10(double x) { return std::log10(x); }

namespace detail {
/// exp(|x| / 2), whose square may be half as large again as the largest float without harm.
PHI_HD float half_exp(float x) { return exp(0.5f * std::fabs(x)); }
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
