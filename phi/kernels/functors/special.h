// Error functions and trigamma of one value, in forms that compilers vectorise for float, and
// polygamma.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "phi/kernels/functors/fast_math.h"
#include "phi/kernels/functors/fast_normal.h"
#include "phi/kernels/functors/gamma.h"

namespace phi::fast {

/// Near 0 erf(x) / x as a polynomial in x^2, which interpolates at the Chebyshev nodes of |x| <= 1
/// (own fit, relative error 2e-9); farther out by the normal distribution.
PHI_HD float erf(float x) {
  const float magnitude = std::fabs(x);
  const float z = x * x;
  float p = 7.8758750627e-5f;
  p = p * z - 8.0168642872e-4f;
  p = p * z + 5.1890874234e-3f;
  p = p * z - 2.6854212011e-2f;
  p = p * z + 1.1283594715e-1f;
  p = p * z - 3.7612626667e-1f;
  p = p * z + 1.1283791658f;
  const float tail = 2.0f * normal_cdf(-std::numbers::sqrt2_v<float> * magnitude);
  return magnitude <= 1.0f ? p * x : std::copysign(1.0f - tail, x);
}
PHI_HD double erf(double x) { return std::erf(x); }

namespace detail {

/// M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2010: x times a
/// polynomial in w = -log(1 - x^2), or in its root for tails. Relative error 4e-7 for |x| < 1.
template <typename C>
PHI_HD C erfinv_start(C x) {
  const C w = -log((C(1) - x) * (C(1) + x));
  const C near = w - C(2.5);
  C p = C(2.81022636e-08);
  p = p * near + C(3.43273939e-07);
  p = p * near - C(3.5233877e-06);
  p = p * near - C(4.39150654e-06);
  p = p * near + C(0.00021858087);
  p = p * near - C(0.00125372503);
  p = p * near - C(0.00417768164);
  p = p * near + C(0.246640727);
  p = p * near + C(1.50140941);
  const C far = std::sqrt(w) - C(3);
  C q = C(-0.000200214257);
  q = q * far + C(0.000100950558);
  q = q * far + C(0.00134934322);
  q = q * far - C(0.00367342844);
  q = q * far + C(0.00573950773);
  q = q * far - C(0.0076224613);
  q = q * far + C(0.00943887047);
  q = q * far + C(1.00167406);
  q = q * far + C(2.83297682);
  return (w < C(5) ? p : q) * x;
}

/// +-inf at the ends of [-1, 1], NaN outside, `inside` within.
template <typename C>
PHI_HD C erfinv_ends(C x, C inside) {
  const C magnitude = std::fabs(x);
  const C end = std::copysign(std::numeric_limits<C>::infinity(), x);
  const C outside = magnitude == C(1) ? end : std::numeric_limits<C>::quiet_NaN();
  return magnitude < C(1) ? inside : outside;
}

}  // namespace detail

PHI_HD float erfinv(float x) { return detail::erfinv_ends(x, detail::erfinv_start(x)); }

/// Three of Halley's steps from the same start; beyond 1/2 on erfc, which keeps its accuracy there.
PHI_HD double erfinv(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1.0)) return detail::erfinv_ends(x, x);
  double y = detail::erfinv_start(magnitude);
  for (int step = 0; step < 3; ++step) {
    const double off = magnitude > 0.5 ? (1.0 - magnitude) - std::erfc(y) : std::erf(y) - magnitude;
    const double newton = off * std::exp(y * y) * (0.5 / std::numbers::inv_sqrtpi);
    y -= newton / (1.0 + y * newton);
  }
  return std::copysign(y, x);
}

namespace detail {

/// How hurwitz_zeta computes: powers of q > 0, and the part of a sum that does not count.
struct ZetaOfDouble {
  static constexpr double kNegligible = 1e-18;
  PHI_HD static double inverse_power(double q, int s) { return std::pow(q, -s); }
};
/// Powers by multiplication lose digits that no float has.
struct ZetaOfFloat {
  static constexpr double kNegligible = 1e-11;
  PHI_HD static double inverse_power(double q, int s) {
    double square = 1.0 / q;
    double power = 1.0;
    for (; s > 0; s >>= 1) {
      power *= (s & 1) != 0 ? square : 1.0;
      square *= square;
    }
    return power;
  }
};

/// Hurwitz's zeta function, the sum of (q + k)^-s over k >= 0, for a whole s >= 2 and q > 0: terms
/// up to a number that is large beside s, then the formula of Euler and Maclaurin.
template <typename Zeta>
PHI_HD double hurwitz_zeta(int s, double q) {
  constexpr int kCorrections = 12;
  // (2k)! / B_2k for k = 1 ..
  constexpr double kScale[kCorrections] = {12.0,
                                           -720.0,
                                           30240.0,
                                           -1209600.0,
                                           47900160.0,
                                           -1.8924375803183791606e9,
                                           7.47242496e10,
                                           -2.950130727918164224e12,
                                           1.1646782814350067249e14,
                                           -4.5979787224074726105e15,
                                           1.8152105401943546773e17,
                                           -7.1661652561756670113e18};
  const double enough = 10.0 + 0.5 * s;
  double sum = 0.0;
  for (; q < enough; q += 1.0) {
    const double term = Zeta::inverse_power(q, s);
    sum += term;
    if (term <= Zeta::kNegligible * sum) return sum;
  }
  const double last = Zeta::inverse_power(q, s);
  sum += last * q / (s - 1.0) + 0.5 * last;
  double factor = s;
  double power = last / q;
  for (int k = 0; k < kCorrections; ++k) {
    const double term = factor * power / kScale[k];
    sum += term;
    if (std::fabs(term) <= 10.0 * Zeta::kNegligible * std::fabs(sum)) break;
    factor *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0);
    power /= q * q;
  }
  return sum;
}

/// The same for q < 0 that is no whole number: the terms on both sides of 0 are sums of this kind
/// themselves.
template <typename Zeta>
PHI_HD double hurwitz_zeta_below(int s, double q) {
  const double above = q - std::floor(q);
  const double below = std::ceil(q) - q;  // 1 - above, but that numbers near 0 keep their digits
  const double left = hurwitz_zeta<Zeta>(s, below) - hurwitz_zeta<Zeta>(s, 1.0 - q);
  return hurwitz_zeta<Zeta>(s, above) + (s % 2 == 0 ? left : -left);
}

template <typename Zeta>
PHI_HD double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  const double sign = n % 2 == 0 ? -1.0 : 1.0;
  if (x == std::numeric_limits<double>::infinity()) return sign * 0.0;
  if (x <= 0.0 && x == std::floor(x)) return sign * std::numeric_limits<double>::infinity();
  const double zeta = x > 0.0 ? hurwitz_zeta<Zeta>(n + 1, x) : hurwitz_zeta_below<Zeta>(n + 1, x);
  return sign * std::tgamma(n + 1.0) * zeta;
}

/// sin(pi r) for |r| <= 1/2, relative error 8e-14 (own interpolation at Chebyshev nodes).
PHI_HD double sin_pi(double r) {
  const double z = r * r;
  double p = 0.0004474920849077101;
  p = p * z - 0.007364005472115722;
  p = p * z + 0.08214479467064854;
  p = p * z - 0.5992644339357286;
  p = p * z + 2.550164035906745;
  p = p * z - 5.167712779987959;
  p = p * z + 3.141592653589635;
  return p * r;
}

}  // namespace detail

/// The n-th derivative of digamma, (-1)^(n + 1) n! zeta(n + 1, x). At its poles, which are 0 and
/// the negative whole numbers, infinite with the sign that it has above them.
PHI_HD double polygamma(int n, double x) { return detail::polygamma<detail::ZetaOfDouble>(n, x); }
PHI_HD float polygamma(int n, float x) {
  return static_cast<float>(detail::polygamma<detail::ZetaOfFloat>(n, x));
}

/// polygamma(1, x): in double at x or, below 6, at x + 6 and 1 / x^2 + .. + 1 / (x + 5)^2, one
/// fraction; from 0 down by reflection. Within 2e-10 of it.
PHI_HD float trigamma(float x) {
  const double whole = x < -1e30f ? -1e30 : static_cast<double>(x);  // a pole, as -inf is
  const double sine = detail::sin_pi(whole - std::rint(whole));
  const bool mirrored = whole <= 0.0;
  const double start = mirrored ? 1.0 - whole : whole;
  const bool small = start < 6.0;
  double above = 1.0;  // the sum so far is above / below
  double below = start * start;
  for (int k = 1; k < 6; ++k) {
    const double square = (start + k) * (start + k);
    above = above * square + below;
    below *= square;
  }
  const double at = small ? start + 6.0 : start;
  const double inverse = 1.0 / at;
  const double z = inverse * inverse;
  // B_2k for k = 5 .. 1.
  double p = 5.0 / 66.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 42.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 6.0;
  const double value = inverse + 0.5 * z + p * z * inverse + (small ? above / below : 0.0);
  constexpr double kSquaredPi = 9.8696044010893586188;
  return static_cast<float>(mirrored ? kSquaredPi / (sine * sine) - value : value);
}
PHI_HD double trigamma(double x) { return polygamma(1, x); }

}  // namespace phi::fast
