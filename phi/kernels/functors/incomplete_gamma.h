// The regularised incomplete gamma function Q(a, x) and its derivative by x, in double. The series
// and continued fraction are NIST Digital Library of Mathematical Functions, 8.7.1 and 8.9.2.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/hd.h"

namespace phi {

namespace detail {

/// log |Gamma(a)|. std::lgamma is not thread-safe: it also writes a global sign.
PHI_HD double log_gamma(double a) {
#ifdef __CUDACC__
  return lgamma(a);
#else
  int sign = 0;
  return lgamma_r(a, &sign);
#endif
}

/// x^a exp(-x) / Gamma(a), for a and x above 0.
PHI_HD double gamma_factor(double a, double x) {
  return std::exp(a * std::log(x) - x - log_gamma(a));
}

inline constexpr int kGammaTerms = 10000;  // far more than needed even near x = a

/// P(a, x) = 1 - Q(a, x) by its series, which converges fast for x < a + 1.
PHI_HD double lower_gamma_series(double a, double x) {
  double term = 1 / a;
  double sum = term;
  for (int n = 1; n < kGammaTerms; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term <= sum * std::numeric_limits<double>::epsilon()) break;
  }
  return sum * gamma_factor(a, x);
}

/// Q(a, x) by its continued fraction, which converges fast for x > a + 1. Evaluated from the front
/// by W. J. Lentz's method (Applied Optics 15, 1976).
PHI_HD double upper_gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;  // replaces a divisor of 0
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double d = 1 / (b == 0 ? kTiny : b);
  double fraction = d;
  for (int n = 1; n < kGammaTerms; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (d == 0 ? kTiny : d);
    c = b + numerator / c;
    c = c == 0 ? kTiny : c;
    fraction *= d * c;
    if (std::abs(d * c - 1) <= std::numeric_limits<double>::epsilon()) break;
  }
  return fraction * gamma_factor(a, x);
}

}  // namespace detail

/// Q(x, y); 1 if x or y is not positive.
template <typename T>
struct GammaInccFunctor {
  PHI_HD T operator()(T x, T y) const {
    if (x != x || y != y) return x + y;
    if (x <= T(0) || y <= T(0)) return 1;
    if (std::isinf(y)) return std::isinf(x) ? std::numeric_limits<T>::quiet_NaN() : T(0);
    if (std::isinf(x)) return 1;
    const auto a = static_cast<double>(x);
    const auto at = static_cast<double>(y);
    return static_cast<T>(at < a + 1 ? 1 - detail::lower_gamma_series(a, at)
                                     : detail::upper_gamma_fraction(a, at));
  }
};

/// The gradient by y: -y^(x - 1) exp(-y) / Gamma(x).
template <typename T>
struct GammaInccGradFunctor {
  PHI_HD T operator()(T x, T y, T g) const {
    const auto a = static_cast<double>(x);
    const auto at = static_cast<double>(y);
    return static_cast<T>(-g * std::exp((a - 1) * std::log(at) - at - detail::log_gamma(a)));
  }
};

}  // namespace phi
