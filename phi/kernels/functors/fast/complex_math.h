// Elementary functions of complex numbers for both devices, because CUDA has none. Parts are
// computed in double, by real functions without intermediate overflow. Infinities, NaN and signed
// zeros follow C's Annex G. complex128 results are within a few roundings; complex64 results are
// rounded once.
//
// Formulas follow W. Kahan, "Branch Cuts for Complex Elementary Functions, or Much Ado About
// Nothing's Sign Bit", 1987.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "phi/common/complex.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

namespace wide {

using Complex = phi::Complex<double>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// i z and z / i.
PHI_HD Complex turned(Complex z) { return {-z.imag(), z.real()}; }
PHI_HD Complex turned_back(Complex z) { return {z.imag(), -z.real()}; }

/// scale e^x y in two steps, because e^x may overflow where the product does not.
PHI_HD double times_exp(double x, double y, double scale = 1) {
  const double half = std::exp(x / 2);
  return half * y * (half * scale);
}

PHI_HD Complex exp(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (y == 0) return {std::exp(x), y};
  if (std::isfinite(y)) return {times_exp(x, std::cos(y)), times_exp(x, std::sin(y))};
  if (x == -kInfinity) return {0.0, std::copysign(0.0, y)};
  return {x == kInfinity ? x : kNaN, kNaN};
}

/// log |z|; near |z| = 1 computed from |z|^2 - 1.
PHI_HD double log_modulus(Complex z) {
  const double x = std::fabs(z.real());
  const double y = std::fabs(z.imag());
  const double large = x > y ? x : y;
  const double small = x > y ? y : x;
  if (large > 0.5 && large < 2) {
    return 0.5 * std::log1p((large - 1) * (large + 1) + small * small);
  }
  if (large < 0x1p1000) return std::log(std::hypot(x, y));
  return std::log(std::hypot(x / 4, y / 4)) + 2 * std::numbers::ln2;
}

PHI_HD Complex log(Complex z) { return {log_modulus(z), std::atan2(z.imag(), z.real())}; }

/// For finite parts that are not both 0 and whose modulus is in range.
PHI_HD Complex finite_sqrt(double x, double y) {
  const double root = std::sqrt((std::fabs(x) + std::hypot(x, y)) / 2);
  const double other = std::fabs(y) / (2 * root);
  return x >= 0 ? Complex(root, std::copysign(other, y)) : Complex(other, std::copysign(root, y));
}

PHI_HD Complex sqrt(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (std::isinf(y)) return {kInfinity, y};
  if (x != x) return {x, x};
  if (x == kInfinity) return {x, y == y ? std::copysign(0.0, y) : y};
  if (x == -kInfinity) return {std::fabs(y - y), std::copysign(kInfinity, y)};
  if (x == 0 && y == 0) return {0.0, y};
  const double large = std::fmax(std::fabs(x), std::fabs(y));
  if (large > 0x1p1000) return 2.0 * finite_sqrt(x / 4, y / 4);
  if (large < 0x1p-900) return 0x1p-100 * finite_sqrt(x * 0x1p200, y * 0x1p200);
  return finite_sqrt(x, y);
}

// Above it sinh and cosh are e^|x| / 2, and tanh is 1.
inline constexpr double kFlat = 22;

PHI_HD Complex sinh(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (y == 0) return {std::sinh(x), y};
  if (!std::isfinite(y)) return {x == 0 || std::isinf(x) ? x : kNaN, kNaN};
  if (std::fabs(x) < kFlat) return {std::sinh(x) * std::cos(y), std::cosh(x) * std::sin(y)};
  const double half = times_exp(std::fabs(x), std::cos(y), 0.5);
  return {x < 0 ? -half : half, times_exp(std::fabs(x), std::sin(y), 0.5)};
}

PHI_HD Complex cosh(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (y == 0) return {std::cosh(x), std::copysign(1.0, x) * y};
  if (!std::isfinite(y)) {
    return {std::isinf(x) ? kInfinity : kNaN, x == 0 ? x : kNaN};
  }
  if (std::fabs(x) < kFlat) return {std::cosh(x) * std::cos(y), std::sinh(x) * std::sin(y)};
  const double half = times_exp(std::fabs(x), std::sin(y), 0.5);
  return {times_exp(std::fabs(x), std::cos(y), 0.5), x < 0 ? -half : half};
}

PHI_HD Complex tanh(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (y == 0) return {std::tanh(x), y};
  if (!std::isfinite(y)) {
    if (std::isinf(x)) return {std::copysign(1.0, x), std::copysign(0.0, y)};
    return {x == 0 ? x : kNaN, kNaN};
  }
  if (std::fabs(x) > kFlat) {
    return {std::copysign(1.0, x), 4 * std::sin(y) * std::cos(y) * std::exp(-2 * std::fabs(x))};
  }
  const double t = std::tan(y);
  const double s = std::sinh(x);
  const double beta = 1 + t * t;
  const double below = 1 + beta * s * s;
  return {beta * std::sqrt(1 + s * s) * s / below, t / below};
}

/// sqrt(1 - z) and sqrt(1 + z) for finite z.
struct Roots {
  Complex minus;
  Complex plus;
  PHI_HD explicit Roots(Complex z)
      : minus(wide::sqrt(Complex(1 - z.real(), -z.imag()))),
        plus(wide::sqrt(Complex(1 + z.real(), z.imag()))) {}
};

PHI_HD Complex asin(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (x == 0 && y != y) return {x, y};
  if (std::isinf(x) || std::isinf(y)) {
    return {std::atan2(x, std::fabs(y)), std::copysign(kInfinity, y)};
  }
  const Roots r(z);
  const double along = r.minus.real() * r.plus.real() - r.minus.imag() * r.plus.imag();
  const double across = r.minus.real() * r.plus.imag() - r.minus.imag() * r.plus.real();
  return {std::atan2(x, along), std::asinh(across)};
}

PHI_HD Complex acos(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  if (x == 0 && y != y) return {std::numbers::pi / 2, y};
  if (std::isinf(x) || std::isinf(y)) {
    return {std::atan2(std::fabs(y), x), -std::copysign(kInfinity, y)};
  }
  const Roots r(z);
  const double across = r.plus.real() * r.minus.imag() - r.plus.imag() * r.minus.real();
  return {2 * std::atan2(r.minus.real(), r.plus.real()), std::asinh(across)};
}

PHI_HD Complex acosh(Complex z) {
  const Complex w = wide::acos(z);
  if (z.real() == 0 && z.imag() != z.imag()) return {z.imag(), w.real()};
  return {std::fabs(w.imag()), std::copysign(w.real(), z.imag())};
}

PHI_HD Complex asinh(Complex z) { return turned_back(wide::asin(turned(z))); }

/// The real part of 1 / z, for large z.
PHI_HD double inverse_along(double x, double y) {
  if (std::fabs(x) > std::fabs(y)) {
    const double ratio = y / x;
    return 1 / (x * (1 + ratio * ratio));
  }
  const double ratio = x / y;
  return ratio / (y * (1 + ratio * ratio));
}

PHI_HD Complex atanh(Complex z) {
  constexpr double kLarge = 0x1p54;  // above it atanh(z) is 1 / z plus a quarter turn
  const double x = std::fabs(z.real());
  const double y = std::fabs(z.imag());
  const auto in_quadrant = [&](double re, double im) {
    return Complex(std::copysign(re, z.real()), std::copysign(im, z.imag()));
  };
  if (y == 0 && x <= 1) return in_quadrant(std::atanh(x), 0.0);
  if (x == 0) return in_quadrant(0.0, std::atan(y));
  if (std::isinf(x) || std::isinf(y)) {
    return in_quadrant(0.0, std::isinf(y) || y == y ? std::numbers::pi / 2 : y);
  }
  if (x != x || y != y) return {kNaN, kNaN};
  if (x > kLarge || y > kLarge) return in_quadrant(inverse_along(x, y), std::numbers::pi / 2);
  const bool is_at_one = x == 1 && y < 0x1p-27;
  const double re = is_at_one ? (std::numbers::ln2 - std::log(y)) / 2
                              : std::log1p(4 * x / ((x - 1) * (x - 1) + y * y)) / 4;
  // The argument of y times the quotient, which stays in range near 1.
  const double im =
      x == 1 ? std::atan2(2.0, -y) / 2 : std::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2;
  return in_quadrant(re, im);
}

PHI_HD Complex sin(Complex z) { return turned_back(wide::sinh(turned(z))); }
PHI_HD Complex cos(Complex z) { return wide::cosh(turned(z)); }
PHI_HD Complex tan(Complex z) { return turned_back(wide::tanh(turned(z))); }
PHI_HD Complex atan(Complex z) { return turned_back(wide::atanh(turned(z))); }

}  // namespace wide

#define PHI_COMPLEX_FUNCTION_(name)                                             \
  template <typename T>                                                         \
  PHI_HD Complex<T> name(Complex<T> z) {                                        \
    const wide::Complex result = wide::name(wide::Complex(z.real(), z.imag())); \
    return {static_cast<T>(result.real()), static_cast<T>(result.imag())};      \
  }
PHI_COMPLEX_FUNCTION_(acos)
PHI_COMPLEX_FUNCTION_(acosh)
PHI_COMPLEX_FUNCTION_(asin)
PHI_COMPLEX_FUNCTION_(asinh)
PHI_COMPLEX_FUNCTION_(atan)
PHI_COMPLEX_FUNCTION_(atanh)
PHI_COMPLEX_FUNCTION_(cos)
PHI_COMPLEX_FUNCTION_(cosh)
PHI_COMPLEX_FUNCTION_(exp)
PHI_COMPLEX_FUNCTION_(log)
PHI_COMPLEX_FUNCTION_(sin)
PHI_COMPLEX_FUNCTION_(sinh)
PHI_COMPLEX_FUNCTION_(sqrt)
PHI_COMPLEX_FUNCTION_(tan)
PHI_COMPLEX_FUNCTION_(tanh)
#undef PHI_COMPLEX_FUNCTION_

namespace detail {
/// 0^y. If y's real part is not positive there is no limit, and the result is NaN.
template <typename T>
PHI_HD Complex<T> power_of_zero(Complex<T> y) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (y == Complex<T>(0)) return {1, 0};
  return y.real() > T(0) ? Complex<T>(0) : Complex<T>(kNan, kNan);
}
}  // namespace detail

/// x^y. For y = 0 it is 1, also for x = 0.
template <typename T>
PHI_HD Complex<T> pow(Complex<T> x, Complex<T> y) {
  using C = Complex<T>;
  if (y == C(2)) return x * x;
  if (y == C(3)) return x * x * x;
  if (x == C(0)) return detail::power_of_zero(y);
  return exp(y * log(x));
}

}  // namespace phi::fast

namespace phi {

/// The gradient of x for the real gradient g of |x|: g in the direction of x; 0 at x = 0.
template <typename C>
struct ModulusGradFunctor {
  PHI_HD C operator()(C x, typename C::value_type g) const {
    const auto modulus = std::hypot(x.real(), x.imag());
    return modulus == 0 ? C(0) : g * (x / modulus);
  }
};

}  // namespace phi
