// Logarithms and exponentials of more digits than float has, and powers by them, in forms that
// compilers vectorise: in double, every choice between cases a select. For functions of float that
// lose digits on their way; double itself has the standard library.
//
//   float y = phi::fast::pow(x, 1.7f);  // within 1 ulp; zeros, infinities, NaN as from std::pow
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "phi/kernels/functors/hd.h"

namespace phi::fast {

namespace detail {

inline constexpr double kWideLn2 = 0.69314718055994530942;

/// log(x) of a normal x > 0, relative error 1e-15. By log(m) = 2 artanh(s), s = (m - 1) / (m + 1),
/// for a mantissa m in [sqrt(1/2), sqrt(2)); the polynomial in s^2 interpolates artanh's series at
/// Chebyshev nodes (own fit).
PHI_HD double wide_log(double x) {
  constexpr uint64_t kOne = 0x3ff0000000000000u;
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
  const uint64_t bits = std::bit_cast<uint64_t>(x) + (kOne - kSqrtHalf);
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) + kSqrtHalf);
  // The exponent's bits as the last ones of 2^52: AVX2 converts no 64-bit integers.
  const double e = std::bit_cast<double>((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
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

/// exp(x), relative error 2e-10: enough for a float. Beyond +-700 as there, which no float holds.
/// The polynomial interpolates (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2 (own fit).
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

}  // namespace detail

/// factor * x^y for a y that a float or a double holds, rounded once: the power may be greater or
/// smaller than any float where the product is one. What hangs on y alone is masks of bits: as
/// conditions, an exponent that a loop has in common would be a jump to many loops, of which none
/// is vectorised.
template <typename Y>
PHI_HD float scaled_pow(double factor, float x, Y y) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Y half = Y(0.5) * y;
  const bool is_whole = std::floor(y) == y;
  const uint32_t sign = is_whole & (std::floor(half) != half) ? 0x80000000u : 0u;
  const uint32_t none = is_whole ? 0u : 0x7fc00000u;  // a NaN, of a negative number
  const uint32_t kept = y == Y(0) ? 0u : ~0u;
  const uint32_t of_unit = std::fabs(y) == static_cast<Y>(kInf) ? 0u : ~0u;  // of x = -1

  const double magnitude = std::fabs(x);
  const double finite = detail::wide_log(magnitude);   // subnormal floats are normal doubles
  double log = magnitude < kInf ? finite : magnitude;  // inf and NaN are their own logarithms
  log = magnitude == 0.0 ? -kInf : log;
  const double exponent = y * log;
  double power = detail::wide_exp(exponent);
  power = exponent == kInf ? kInf : power;  // times 0 it is NaN
  power = exponent == -kInf ? 0.0 : power;
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(factor * power));
  bits ^= std::bit_cast<uint32_t>(x) & sign;
  bits |= (x < 0.0f) & (magnitude < kInf) ? none : 0u;
  const auto one = std::bit_cast<uint32_t>(static_cast<float>(factor));
  const uint32_t unchanged = x == 1.0f ? 0u : (x == -1.0f ? kept & of_unit : kept);
  return std::bit_cast<float>((bits & unchanged) | (one & ~unchanged));
}
PHI_HD double scaled_pow(double factor, double x, double y) { return factor * std::pow(x, y); }

PHI_HD float pow(float x, float y) { return scaled_pow(1.0, x, y); }
PHI_HD double pow(double x, double y) { return std::pow(x, y); }

}  // namespace phi::fast
