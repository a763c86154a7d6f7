// Complex: complex arithmetic for host and device code. It replaces std::complex, because libstdc++
// implements std::complex with GNU's __complex__, whose arithmetic nvcc silently drops from device
// code.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "phi/common/host_device.h"

namespace phi {

/// A complex number with the memory layout of std::complex, convertible from and to it. Products
/// and quotients treat infinities as specified in Annex G.5.1 of the C standard.
template <typename R>
class Complex {
 public:
  using value_type = R;

  PHI_HD constexpr Complex(R real = R(), R imag = R()) : real_(real), imag_(imag) {}
  template <typename S>
  PHI_HD explicit(sizeof(S) > sizeof(R)) constexpr Complex(Complex<S> z)
      : real_(static_cast<R>(z.real())), imag_(static_cast<R>(z.imag())) {}
  PHI_HD constexpr Complex(std::complex<R> z) : real_(z.real()), imag_(z.imag()) {}
  PHI_HD constexpr operator std::complex<R>() const { return {real_, imag_}; }

  PHI_HD constexpr R real() const { return real_; }
  PHI_HD constexpr R imag() const { return imag_; }

  PHI_HD constexpr Complex operator-() const { return {-real_, -imag_}; }
  PHI_HD constexpr Complex& operator+=(Complex z) { return *this = *this + z; }
  PHI_HD constexpr Complex& operator-=(Complex z) { return *this = *this - z; }
  PHI_HD constexpr Complex& operator*=(Complex z) { return *this = *this * z; }
  PHI_HD constexpr Complex& operator*=(R x) { return *this = *this * x; }
  PHI_HD Complex& operator/=(Complex z) { return *this = *this / z; }
  PHI_HD constexpr Complex& operator/=(R x) { return *this = *this / x; }

  friend PHI_HD constexpr Complex operator+(Complex a, Complex b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend PHI_HD constexpr Complex operator-(Complex a, Complex b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend PHI_HD constexpr Complex operator*(Complex a, Complex b) {
    const Complex product = plain_product(a, b);
    return may_be_nan(product) ? product_of_infinities(a, b, product) : product;
  }
  friend PHI_HD constexpr Complex operator*(Complex a, R b) { return {a.real_ * b, a.imag_ * b}; }
  friend PHI_HD constexpr Complex operator*(R a, Complex b) { return {a * b.real_, a * b.imag_}; }
  friend PHI_HD Complex operator/(Complex a, Complex b) {
    const Complex quotient = finite_quotient(a, b);
    return may_be_nan(quotient) ? quotient_of_infinities(a, b, quotient) : quotient;
  }
  friend PHI_HD constexpr Complex operator/(Complex a, R b) { return {a.real_ / b, a.imag_ / b}; }
  /// |z|^2.
  friend PHI_HD constexpr R norm(Complex z) { return z.real_ * z.real_ + z.imag_ * z.imag_; }
  friend PHI_HD constexpr bool operator==(Complex a, Complex b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
  friend PHI_HD constexpr bool operator!=(Complex a, Complex b) { return !(a == b); }

 private:
  static constexpr R kInfinity = std::numeric_limits<R>::infinity();

  static PHI_HD constexpr bool is_nan(Complex z) {
    return z.real_ != z.real_ && z.imag_ != z.imag_;
  }
  /// True if any part is NaN, but also for opposite infinities. Costs one comparison.
  static PHI_HD constexpr bool may_be_nan(Complex z) {
    const R sum = z.real_ + z.imag_;
    return sum != sum;
  }
  static PHI_HD bool is_infinite(Complex z) { return std::isinf(z.real_) || std::isinf(z.imag_); }
  static PHI_HD bool is_finite(Complex z) {
    return std::isfinite(z.real_) && std::isfinite(z.imag_);
  }
  /// Replaces infinite parts by 1 and others by 0, with their signs.
  static PHI_HD Complex direction(Complex z) {
    return {std::copysign(R(std::isinf(z.real_) ? 1 : 0), z.real_),
            std::copysign(R(std::isinf(z.imag_) ? 1 : 0), z.imag_)};
  }
  static PHI_HD Complex without_nan(Complex z) {
    return {std::isnan(z.real_) ? std::copysign(R(0), z.real_) : z.real_,
            std::isnan(z.imag_) ? std::copysign(R(0), z.imag_) : z.imag_};
  }

  static PHI_HD constexpr Complex plain_product(Complex a, Complex b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  static PHI_HD_RARE Complex product_of_infinities(Complex a, Complex b, Complex plain) {
    const bool of_infinity = is_infinite(a) || is_infinite(b);
    const bool overflows = std::isinf(a.real_ * b.real_) || std::isinf(a.imag_ * b.imag_) ||
                           std::isinf(a.real_ * b.imag_) || std::isinf(a.imag_ * b.real_);
    if (!is_nan(plain) || (!of_infinity && !overflows)) return plain;
    const Complex left = without_nan(is_infinite(a) ? direction(a) : a);
    const Complex right = without_nan(is_infinite(b) ? direction(b) : b);
    return kInfinity * plain_product(left, right);
  }

  static PHI_HD R larger_part(Complex z) {
    return std::fmax(std::fabs(z.real_), std::fabs(z.imag_));
  }
  /// Whether squares and products of the parts are normal numbers.
  static PHI_HD bool is_in_range(Complex a, Complex b) {
    constexpr R kMost = 0x1p480;
    const R above = larger_part(a), below = larger_part(b);
    return above >= 1 / kMost && above <= kMost && below >= 1 / kMost && below <= kMost;
  }
  static PHI_HD Complex plain_quotient(Complex a, Complex b) {
    const R below = norm(b);
    const Complex above = plain_product(a, {b.real_, -b.imag_});
    return {above.real_ / below, above.imag_ / below};
  }
  static PHI_HD Complex finite_quotient(Complex a, Complex b) {
    if constexpr (sizeof(R) == 4) {  // no intermediate result overflows in double
      const double c = b.real_, d = b.imag_, below = c * c + d * d;
      return {static_cast<R>((a.real_ * c + a.imag_ * d) / below),
              static_cast<R>((a.imag_ * c - a.real_ * d) / below)};
    } else {
      return is_in_range(a, b) ? plain_quotient(a, b) : scaled_quotient(a, b);
    }
  }
  /// M. Baudin and R. L. Smith, "A Robust Complex Division in Scilab", 2012.
  static PHI_HD_RARE Complex scaled_quotient(Complex z, Complex w) {
    using Limits = std::numeric_limits<R>;
    constexpr R kLarge = Limits::max() / 2;
    constexpr R kSmall = Limits::min() * 2 / Limits::epsilon();
    constexpr R kUp = 2 / (Limits::epsilon() * Limits::epsilon());
    const R above = larger_part(z), below = larger_part(w);
    const R of_z = above >= kLarge ? R(0.5) : above <= kSmall ? kUp : R(1);
    const R of_w = below >= kLarge ? R(0.5) : below <= kSmall ? kUp : R(1);
    return smith_quotient(z * of_z, w * of_w) * (of_w / of_z);
  }
  static PHI_HD Complex smith_quotient(Complex z, Complex w) {
    if (std::fabs(w.imag_) <= std::fabs(w.real_)) return along_real(z, w);
    const Complex turned = along_real({z.imag_, z.real_}, {w.imag_, w.real_});
    return {turned.real_, -turned.imag_};
  }
  static PHI_HD Complex along_real(Complex z, Complex w) {
    const R ratio = w.imag_ / w.real_;
    const R inverse = 1 / (w.real_ + w.imag_ * ratio);
    return {share(z.real_, z.imag_, w, ratio, inverse),
            share(z.imag_, -z.real_, w, ratio, inverse)};
  }
  /// (x + y ratio) inverse, safe if the ratio or y ratio underflows.
  static PHI_HD R share(R x, R y, Complex w, R ratio, R inverse) {
    if (ratio == 0) return (x + w.imag_ * (y / w.real_)) * inverse;
    const R along = y * ratio;
    return along != 0 ? (x + along) * inverse : x * inverse + (y * inverse) * ratio;
  }
  static PHI_HD_RARE Complex quotient_of_infinities(Complex a, Complex b, Complex plain) {
    if (!is_nan(plain)) return plain;
    if (b.real_ == 0 && b.imag_ == 0) return a * std::copysign(kInfinity, b.real_);
    const Complex conjugate = {b.real_, -b.imag_};
    if (is_infinite(a) && is_finite(b)) return plain_product(direction(a), conjugate) * kInfinity;
    const Complex along = direction(conjugate);
    if (is_infinite(b) && is_finite(a)) return plain_product(a, along) * R(0);
    return plain;
  }

  R real_;
  R imag_;
};

template <typename R>
PHI_HD constexpr Complex<R> conj(Complex<R> z) {
  return {z.real(), -z.imag()};
}
template <typename R>
PHI_HD R abs(Complex<R> z) {
  return std::hypot(z.real(), z.imag());
}

}  // namespace phi
