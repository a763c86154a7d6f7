// Logarithms and exponentials with more digits than their type, and powers computed with them. They
// vectorise: every choice between cases is a select. Functions of float that lose digits in
// intermediate steps compute in double; powers of double compute in pairs of doubles.
//
//   float y = phi::fast::pow(x, 1.7f);  // within 1 ulp (double: 1.2); ends as of std::pow
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "phi/kernels/functors/fast/parts.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

namespace detail {

inline constexpr double kWideLn2 = 0.69314718055994530942;

/// log(x) of a normal x > 0, relative error 1e-15. By log(m) = 2 artanh(s), s = (m - 1) / (m + 1),
/// for a mantissa m in [sqrt(1/2), sqrt(2)); the polynomial in s^2 interpolates artanh's series at
/// Chebyshev nodes (own fit).
PHI_HD double wide_log(double x) {
  const auto [m, e] = split_normal(x);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.083109735450886997;
  p = p * z + 0.090700926012466232;
  p = p * z + 0.1111143123842477;
  p = p * z + 0.14285712068258174;
  p = p * z + 0.200000000056061;
  p = p * z + 0.3333333333333104;
  return e * kWideLn2 + (2.0 * s + 2.0 * s * z * p);
}

/// exp(x) with relative error 2e-10, enough for a float. x is clamped to +-700, beyond the range of
/// float. The polynomial interpolates (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2 (own fit).
PHI_HD double wide_exp(double x) {
  x = x < -700.0 ? -700.0 : x;  // NaN passes both comparisons
  x = x > 700.0 ? 700.0 : x;
  constexpr double kRound = 0x1.8p52;
  const double shifted = x * (1.0 / kWideLn2) + kRound;
  const double n = shifted - kRound;
  const double r = x - n * kWideLn2;
  double p = 1.9889890820968e-4;
  p = p * r + 1.393364999630925e-3;
  p = p * r + 8.3333109254809e-3;
  p = p * r + 4.1666464925285905e-2;
  p = p * r + 1.6666666681623231e-1;
  p = p * r + 5.0000000134658092e-1;
  const double mantissa = p * (r * r) + r + 1.0;
  return mantissa * std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023u) << 52);
}

/// high + low: a number of about 106 bits.
struct TwoDoubles {
  double high;
  double low;
};

/// log(x) for x > 0, relative error 2^-65: like wide_log, plus the rounding error of each step.
PHI_HD TwoDoubles precise_log(double x) {
  constexpr double kTwoThirds = 0.66666666666666662966;
  constexpr double kTwoThirdsLow = 3.700743415417188e-17;
  const auto [mantissa, exponent] = split(x);
  const double m = mantissa - 1.0;
  const double below = m + 2.0;
  const double below_low = m - (below - 2.0);
  const double inverse = 1.0 / below;
  const double s = m * inverse;
  const double s_low = (std::fma(-s, below, m) - s * below_low) * inverse;
  const double z = s * s;
  const double z_low = std::fma(s, s, -z) + 2.0 * s * s_low;
  // log(mantissa) = 2 s + s z q.
  const double rest = z * polynomial(z, 0.1291361767218225, 0.13285957435193352,
                                     0.15385574796462032, 0.18181808247544543, 0.2222222227110234,
                                     0.2857142857133851, 0.40000000000000024);
  const double q = kTwoThirds + rest;
  const double q_low = (kTwoThirds - q) + rest + kTwoThirdsLow;
  const double zq = z * q;
  const double zq_low = std::fma(z, q, -zq) + std::fma(z_low, q, z * q_low);
  const double bend = s * zq;
  const double bend_low = std::fma(s, zq, -bend) + std::fma(s_low, zq, s * zq_low);
  const double whole = exponent * FloatTraits<double>::kLn2High;
  const double start = whole + 2.0 * s;  // 0, or larger in magnitude than 2 s
  const double start_low = 2.0 * s - (start - whole);
  const double high = start + bend;
  const double high_low = bend - (high - start);
  const double small = std::fma(exponent, FloatTraits<double>::kLn2Low, 2.0 * s_low);
  return {high, start_low + high_low + (bend_low + small)};
}

/// exp(high + low); 0 or inf if `high` is infinite.
PHI_HD double precise_exp(TwoDoubles x) {
  using R = FloatTraits<double>;
  const double finite = exp_of(x.high, x.low);
  const double y = x.high > R::kExpIsInf ? std::numeric_limits<double>::infinity() : finite;
  return x.high < R::kExpIsZero ? 0.0 : y;
}

/// The logarithm of a magnitude: `inside`, unless that is 0, infinite or NaN.
PHI_HD double log_of_magnitude(double magnitude, double inside) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double y = magnitude < kInf ? inside : magnitude;  // inf and NaN are their own logarithms
  return magnitude == 0.0 ? -kInf : y;
}

/// magnitude^y for a magnitude in the range of float, relative error 2e-10.
template <typename Y>
PHI_HD double pow_of_magnitude(float magnitude, Y y) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double x = magnitude;  // subnormal floats are normal doubles
  const double exponent = y * log_of_magnitude(x, wide_log(x));
  double power = wide_exp(exponent);
  power = exponent == kInf ? kInf : power;  // 0 * inf would be NaN
  return exponent == -kInf ? 0.0 : power;
}
/// Within 1.2 ulp.
PHI_HD double pow_of_magnitude(double magnitude, double y) {
  const auto [finite, low] = precise_log(magnitude);
  const double high = log_of_magnitude(magnitude, finite);
  const double exponent = y * high;
  return precise_exp({exponent, std::fma(y, high, -exponent) + y * low});
}

}  // namespace detail

/// factor * x^y. A float result is rounded once: the power may be outside of float's range where
/// the product is inside. Conditions on y alone are bit masks: if y is constant in a loop, a
/// compiler would otherwise split the loop by condition, and vectorise no part.
template <typename T, typename Y>
PHI_HD T scaled_pow(double factor, T x, Y y) {
  using Bits = typename detail::FloatTraits<T>::Bits;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr Bits kSign = std::bit_cast<Bits>(T(-0.0));
  constexpr Bits kNan = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  constexpr Bits kAll = ~Bits{0};
  const Y half = Y(0.5) * y;
  const bool is_whole = std::floor(y) == y;
  const Bits sign = (is_whole & (std::floor(half) != half)) ? kSign : Bits{0};
  const Bits none = is_whole ? Bits{0} : kNan;  // for a negative base
  const Bits kept = y == Y(0) ? Bits{0} : kAll;
  const Bits of_unit =
      std::fabs(y) == std::numeric_limits<Y>::infinity() ? Bits{0} : kAll;  // for x = -1

  const T magnitude = std::fabs(x);
  const double power = detail::pow_of_magnitude(magnitude, y);
  auto bits = std::bit_cast<Bits>(static_cast<T>(factor * power));
  bits ^= std::bit_cast<Bits>(x) & sign;
  bits |= ((x < T(0)) & (magnitude < kInf)) ? none : Bits{0};
  const auto one = std::bit_cast<Bits>(static_cast<T>(factor));
  const Bits unchanged = x == T(1) ? Bits{0} : (x == T(-1) ? kept & of_unit : kept);
  return std::bit_cast<T>((bits & unchanged) | (one & ~unchanged));
}

template <typename T>
PHI_HD T pow(T x, T y) {
  return scaled_pow(1.0, x, y);
}

}  // namespace phi::fast
