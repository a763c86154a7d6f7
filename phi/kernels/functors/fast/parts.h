// Building blocks of math.h and the headers next to it, for float and double: constants of a type,
// range reductions and polynomials. A type that defines them has the functions.
// For float the range reductions follow S. Moshier's Cephes library (expf, sinf); for double the
// sum of a logarithm follows Sun's fdlibm (e_log.c). Polynomials of double interpolate at Chebyshev
// nodes (own fits); the errors given are those of the functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "phi/kernels/functors/hd.h"

namespace phi::fast::detail {

/// The polynomial with these coefficients, the highest first.
template <typename T, typename... C>
PHI_HD T polynomial(T x, T highest, C... lower) {
  ((highest = highest * x + lower), ...);
  return highest;
}

/// The same as two interleaved chains, one per parity of the coefficients. They shorten the
/// dependency chain of long polynomials.
template <typename T>
PHI_HD T two_chains(T x, T, T a, T b) {
  return a * x + b;
}
template <typename T>
PHI_HD T two_chains(T x, T square, T a, T b, T last) {
  return b * x + (a * square + last);
}
template <typename T, typename... C>
PHI_HD T two_chains(T x, T square, T a, T b, T next_a, T next_b, C... lower) {
  return two_chains(x, square, a * square + next_a, b * square + next_b, lower...);
}
template <typename T, typename... C>
PHI_HD T long_polynomial(T x, C... coefficients) {
  return two_chains(x, x * x, coefficients...);
}

template <typename T>
struct FloatTraits;

template <>
struct FloatTraits<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kRound = 12582912.0f;     // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float kLn2High = 0.693359375f;  // its product with an exponent is exact
  static constexpr float kLn2Low = -2.12194440e-4f;
  static constexpr float kLog2e = 1.44269504088896341f;
  static constexpr float kLog10e = 0.43429448190325183f;

  static constexpr float kExpIsZero = -104.0f;  // below it
  static constexpr float kExpIsInf = 89.0f;     // above it
  static constexpr float kExpInside = 87.0f;    // exp(x) and exp(-x) are normal numbers up to here
  static constexpr float kExpm1IsMinus1 = -30.0f;
  static constexpr float kExpm1IsX = 0x1p-26f;  // for smaller magnitudes
  static constexpr float kTanhIs1 = 10.0f;
};

template <>
struct FloatTraits<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 5.497923018708371e-14;
  static constexpr double kLog2e = 1.44269504088896340736;
  static constexpr double kLog10e = 0.43429448190325182765;

  static constexpr double kExpIsZero = -746.0;
  static constexpr double kExpIsInf = 710.0;
  static constexpr double kExpInside = 708.0;
  static constexpr double kExpm1IsMinus1 = -40.0;
  static constexpr double kExpm1IsX = 0x1p-55;
  static constexpr double kTanhIs1 = 20.0;
};

/// 2^n if n is an exponent of a normal number; otherwise an unspecified value, without a trap.
PHI_HD float pow2(uint32_t n) { return std::bit_cast<float>((n + 127u) << 23); }
PHI_HD double pow2(uint64_t n) { return std::bit_cast<double>((n + 1023u) << 52); }

/// x = n ln(2) + rest with |rest| <= ln(2) / 2, and 2^(n + lift) if that is in pow2's range.
template <typename T>
struct PowerAndRest {
  T power;
  T rest;
};
template <typename T>
PHI_HD PowerAndRest<T> split_exponent(T x, T lift = T(0)) {
  using R = FloatTraits<T>;
  // The rounded number is in the low bits; the higher ones of kRound are shifted out.
  const T round = R::kRound + T(R::kBias) + lift;
  const T shifted = x * R::kLog2e + round;
  const T n = shifted - round;
  const T rest = (x - n * R::kLn2High) - n * R::kLn2Low;
  return {std::bit_cast<T>(std::bit_cast<typename R::Bits>(shifted) << R::kMantissaBits), rest};
}

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, with least relative error of exp(r)
/// (own fit, 2e-9).
PHI_HD float exp_tail(float r) {
  float p = 1.383671018e-3f;
  p = p * r + 8.374898186e-3f;
  p = p * r + 4.166823237e-2f;
  p = p * r + 1.666641919e-1f;
  return p * r + 4.999999204e-1f;
}
PHI_HD double exp_tail(double r) {  // 4e-19
  return long_polynomial(r, 2.0914686968086876e-09, 2.5105217004720745e-08, 2.75572736431103e-07,
                         2.7557255400206422e-06, 2.4801587325547743e-05, 0.00019841269874820627,
                         0.0013888888888883748, 0.008333333333326136, 0.04166666666666667,
                         0.1666666666666667, 0.5);
}
/// exp(r) for |r| <= ln(2) / 2.
template <typename T>
PHI_HD T exp_polynomial(T r) {
  return (exp_tail(r) * r + T(1)) * r + T(1);
}

/// p 2^n as two factors, because 2^n may be out of range.
template <typename T>
PHI_HD T scale_by_pow2(T p, typename FloatTraits<T>::Bits n) {
  using Bits = typename FloatTraits<T>::Bits;
  constexpr Bits kTwiceBias = 2 * FloatTraits<T>::kBias;
  // The operand of the shift is not negative.
  const Bits half = ((n + kTwiceBias) >> 1) - FloatTraits<T>::kBias;
  return p * pow2(half) * pow2(n - half);
}

/// exp(x + low) for |low| far below |x|.
template <typename T>
PHI_HD T exp_of(T x, T low = T(0)) {
  using R = FloatTraits<T>;
  T inside = x < R::kExpIsZero ? R::kExpIsZero : x;  // NaN passes both comparisons
  inside = inside > R::kExpIsInf ? R::kExpIsInf : inside;
  const T shifted = inside * R::kLog2e + R::kRound;
  const T n = shifted - R::kRound;
  const T r = (inside - n * R::kLn2High) - (n * R::kLn2Low - low);
  using Bits = typename R::Bits;
  const Bits power = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(R::kRound);
  return scale_by_pow2(exp_polynomial(r), power);
}

/// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive finite x.
template <typename T>
struct MantissaAndExponent {
  T mantissa;
  T exponent;
};
/// The same for normal numbers.
PHI_HD MantissaAndExponent<float> split_normal(float x) {
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  const uint32_t bits = std::bit_cast<uint32_t>(x) - kSqrtHalf;
  const float e = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  return {std::bit_cast<float>((bits & 0x007fffffu) + kSqrtHalf), e};
}
PHI_HD MantissaAndExponent<double> split_normal(double x) {
  constexpr uint64_t kOne = 0x3ff0000000000000u;
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
  const uint64_t bits = std::bit_cast<uint64_t>(x) + (kOne - kSqrtHalf);
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) + kSqrtHalf);
  // Places the exponent's bits in the low bits of 2^52, because AVX2 cannot convert 64-bit
  // integers.
  return {m, std::bit_cast<double>((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0)};
}
template <typename T>
PHI_HD MantissaAndExponent<T> split(T x) {
  constexpr int kBits = FloatTraits<T>::kMantissaBits;
  constexpr T kLift = T(uint64_t{1} << kBits);
  const bool tiny = x < std::numeric_limits<T>::min();
  const auto [mantissa, e] = split_normal(tiny ? x * kLift : x);
  return {mantissa, e - (tiny ? T(kBits) : T(0))};
}

/// log(1 + m) + low, where 1 + m is a mantissa as above and |low| is far smaller: m plus m^2 times
/// a polynomial of least relative error (own fit, 4e-9).
PHI_HD float log_polynomial(float m, float low) {
  float p = -7.6218219604e-2f;
  p = p * m + 1.2904457495e-1f;
  p = p * m - 1.3242980281e-1f;
  p = p * m + 1.4181820409e-1f;
  p = p * m - 1.6609083069e-1f;
  p = p * m + 2.0001974235e-1f;
  p = p * m - 2.5001582944e-1f;
  p = p * m + 3.3333325686e-1f;
  p = p * m - 4.9999988347e-1f;
  // An explicit fma: which product a compiler fuses may vary, and log_inside must equal log.
  return m + std::fma(p, m * m, low);
}
/// 2 artanh(s) for s = m / (m + 2), as m - m^2 / 2 + s (m^2 / 2 + a polynomial in s^2), which
/// preserves what rounding s loses; 5e-18.
PHI_HD double log_polynomial(double m, double low) {
  const double s = m / (m + 2.0);
  const double z = s * s;
  const double p = long_polynomial(z, 0.14616585424888623, 0.15331710618210773, 0.18182889455674947,
                                   0.22222211130259878, 0.2857142862600327, 0.39999999999899444,
                                   0.666666666666667);
  const double half = 0.5 * m * m;
  return m - (half - std::fma(s, std::fma(p, z, half), low));
}

/// The logarithm of x: `inside`, unless x is negative, 0, infinite or NaN.
template <typename T>
PHI_HD T log_ends(T x, T inside) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  T y = x < kInf ? inside : x;  // inf and NaN are their own logarithms
  y = x < T(0) ? std::numeric_limits<T>::quiet_NaN() : y;
  return x == T(0) ? -kInf : y;
}

/// log(mantissa 2^exponent) + low.
template <typename T>
PHI_HD T log_of(MantissaAndExponent<T> x, T low = T(0)) {
  using R = FloatTraits<T>;
  return log_polynomial(x.mantissa - T(1), std::fma(x.exponent, R::kLn2Low, low)) +
         x.exponent * R::kLn2High;
}

}  // namespace phi::fast::detail
