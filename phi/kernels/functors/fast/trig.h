// Vectorisable trigonometric functions and their inverses.
//
//   float y = phi::fast::sin(x);  // where is_reducible(x); the error is below 1e-7
//
// Ranges, and polynomials of float, follow S. Moshier's Cephes library (sinf, asinf, atanf); those
// of double interpolate at Chebyshev nodes (own fits).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "phi/kernels/functors/fast/math.h"

namespace phi::fast {

namespace detail {

/// (sin(a) - a) / a^3 at z = a^2 for |a| <= pi / 4.
PHI_HD float sin_tail(float z) {
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  return s * z - 1.6666654611e-1f;
}
PHI_HD double sin_tail(double z) {  // 6e-18
  return polynomial(z, -7.586691094197958e-13, 1.6058531516797758e-10, -2.5052106231802837e-08,
                    2.7557319219337312e-06, -0.00019841269841265063, 0.008333333333333331,
                    -0.16666666666666666);
}
/// cos(a) as a function of z = a^2.
PHI_HD float cos_polynomial(float z) {
  float c = 2.443315711809948e-5f;
  c = c * z - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  return c * z * z - 0.5f * z + 1.0f;
}
PHI_HD double cos_polynomial(double z) {  // 1e-18
  const double p =
      polynomial(z, -1.1382623647474604e-11, 2.087614614655861e-09, -2.7557317271145144e-07,
                 2.480158729876456e-05, -0.0013888888888887398, 0.041666666666666664);
  const double start = std::fma(-0.5, z, 1.0);
  return start +
         std::fma(p * z, z, std::fma(-0.5, z, 1.0 - start));  // adds the rounding error of `start`
}

/// The number of quarter turns (pi / 2). It has as many bits as T, so that all lanes of a loop have
/// one width.
template <typename T>
using Quarter = typename FloatTraits<T>::Bits;

template <typename T>
struct SineAndCosine {
  T sine;
  T cosine;
};

/// Sine and cosine of `quarter` quarter turns plus `a`, |a| <= pi / 4.
template <typename T>
PHI_HD SineAndCosine<T> sincos_of(Quarter<T> quarter, T a) {
  const T z = a * a;
  const T s = sin_tail(z) * z * a + a;
  const T c = cos_polynomial(z);
  // A quarter turn swaps sine and cosine; half a turn negates both.
  const bool swap = (quarter & 1u) != 0;
  const T sine = swap ? c : s;
  const T cosine = swap ? s : c;
  return {(quarter & 2u) != 0 ? -sine : sine, ((quarter + 1u) & 2u) != 0 ? -cosine : cosine};
}

/// x as a number of quarter turns (pi / 2) and a rest.
template <typename T>
struct QuarterTurns {
  Quarter<T> quarter;
  T rest;
};

/// pi / 2 in three parts. The first two have so few bits that their products with the number of
/// quarter turns are exact.
template <typename T>
struct HalfPi;
template <>
struct HalfPi<float> {
  static constexpr float kFirst = 1.5703125f;
  static constexpr float kSecond = 4.837512969970703e-4f;
  static constexpr float kThird = 7.549789954891e-8f;
};
template <>
struct HalfPi<double> {
  static constexpr double kFirst = 0x1.921fb544p+0;
  static constexpr double kSecond = 0x1.0b4611a6p-34;
  static constexpr double kThird = 2.0222662487959506e-21;
};

template <typename T>
PHI_HD QuarterTurns<T> quarter_turns(T x) {
  using Pi = HalfPi<T>;
  constexpr T kRound = FloatTraits<T>::kRound;
  const T shifted = x * T(0.63661977236758134308) + kRound;
  const T n = shifted - kRound;
  const T rest = ((x - n * Pi::kFirst) - n * Pi::kSecond) - n * Pi::kThird;
  return {std::bit_cast<Quarter<T>>(shifted), rest};
}

template <typename T>
PHI_HD SineAndCosine<T> sincos(T x) {
  const auto [quarter, rest] = quarter_turns(x);
  return sincos_of(quarter, rest);
}

/// (asin(x) - x) / x^3 at z = x^2 for |x| <= 1/2.
PHI_HD float asin_tail(float z) {
  float p = 4.2163199048e-2f;
  p = p * z + 2.4181311049e-2f;
  p = p * z + 4.5470025998e-2f;
  p = p * z + 7.4953002686e-2f;
  return p * z + 1.6666752422e-1f;
}
PHI_HD double asin_tail(double z) {  // 6e-18
  return long_polynomial(z, 0.028757851367421566, -0.014851887071247204, 0.01740087944269402,
                         0.005457506718640358, 0.01032281435018578, 0.011479177415184906,
                         0.013971212973552933, 0.017352392720869973, 0.02237217294214989,
                         0.030381944138531247, 0.04464285714635543, 0.07499999999998433,
                         0.16666666666666669);
}
/// asin(x) for |x| <= 1/2.
template <typename T>
PHI_HD T asin_polynomial(T x) {
  const T z = x * x;
  return asin_tail(z) * z * x + x;
}

template <typename T>
inline constexpr T kPi = T(3.14159265358979323846);
/// pi minus kPi.
template <typename T>
inline constexpr T kPiLow = T(1.22464679914735318e-16);
template <>
inline constexpr float kPiLow<float> = -8.74227765734758577e-8f;
template <typename T>
inline constexpr T kHalfPi = T(1.57079632679489661923);

}  // namespace detail

/// Whether the functions below accept x: not NaN and not too far from 0.
PHI_HD bool is_reducible(float x) { return std::fabs(x) <= 8192.0f; }
PHI_HD bool is_reducible(double x) { return std::fabs(x) <= 524288.0; }

template <typename T>
PHI_HD T sin(T x) {
  const T sine = detail::sincos(x).sine;
  return x == T(0) ? x : sine;  // also for -0
}

template <typename T>
PHI_HD T cos(T x) {
  return detail::sincos(x).cosine;
}

template <typename T>
PHI_HD T tan(T x) {
  const auto [sine, cosine] = detail::sincos(x);
  return x == T(0) ? x : sine / cosine;
}

/// sin and cos of 2 pi `turns` for |turns| <= 2^20.
PHI_HD void sincos_turns(float turns, float* sine, float* cosine) {
  constexpr float kRound = detail::FloatTraits<float>::kRound;
  const float shifted = 4.0f * turns + kRound;
  const float a = (turns - 0.25f * (shifted - kRound)) * 6.283185307179586f;
  const auto both = detail::sincos_of(std::bit_cast<uint32_t>(shifted), a);
  *sine = both.sine;
  *cosine = both.cosine;
}

/// NaN outside [-1, 1]. Near the ends it uses the half angle: asin(x) = pi / 2 - 2
/// asin(sqrt((1 - x) / 2)).
template <typename T>
PHI_HD T asin(T x) {
  const T magnitude = std::fabs(x);
  const bool outer = magnitude > T(0.5);
  const T inner = outer ? std::sqrt(T(0.5) * (T(1) - magnitude)) : magnitude;
  const T p = detail::asin_polynomial(inner);
  return std::copysign(outer ? detail::kHalfPi<T> - T(2) * p : p, x);
}

template <typename T>
PHI_HD T acos(T x) {
  const T magnitude = std::fabs(x);
  const bool outer = magnitude > T(0.5);
  const T inner = outer ? std::sqrt(T(0.5) * (T(1) - magnitude)) : x;
  const T p = detail::asin_polynomial(inner);
  const T near_one = T(2) * p;
  const T far = x < T(0) ? detail::kPi<T> - near_one : near_one;
  return outer ? far : detail::kHalfPi<T> - p;
}

namespace detail {

/// (atan(t) - t) / t^3 at z = t^2 for |t| <= tan(pi / 8).
PHI_HD float atan_tail(float z) {
  float p = 8.05374449538e-2f;
  p = p * z - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  return p * z - 3.33329491539e-1f;
}
PHI_HD double atan_tail(double z) {  // 7e-18
  return long_polynomial(z, -0.019175404711104935, 0.03923044778479309, -0.050854078345894844,
                         0.05858140904866328, -0.06664510525508936, 0.07692183125376892,
                         -0.0909090457530649, 0.11111111015187018, -0.14285714284665682,
                         0.19999999999995516, -0.3333333333333333);
}

/// atan(above / below) for non-negative numbers with one division, by
/// atan(x) = pi / 4 + atan((x - 1) / (x + 1)) and pi / 2 + atan(-1 / x). NaN for 0 / 0 and for two
/// infinities. above + below must be finite otherwise.
template <typename T>
PHI_HD T atan_of_ratio(T above, T below) {
  const bool far = above > T(2.41421356237309504880) * below;
  const bool middle = above > T(0.41421356237309504880) * below;
  // Written as sums, because g++ compiles a select between quotients to two divisions.
  const T top = (far ? T(0) : above) - (middle ? below : T(0));
  const T bottom = (far ? T(0) : below) + (middle ? above : T(0));
  const T start = far ? kHalfPi<T> : (middle ? T(0.5) * kHalfPi<T> : T(0));
  const T t = top / bottom;
  const T z = t * t;
  return start + (atan_tail(z) * z * t + t);
}
}  // namespace detail

template <typename T>
PHI_HD T atan(T x) {
  return std::copysign(detail::atan_of_ratio(std::fabs(x), T(1)), x);
}

/// The angle of the point (x, y) in [-pi, pi]. Signs of zeros count as in std::atan2.
template <typename T>
PHI_HD T atan2(T y, T x) {
  constexpr T kHuge = std::numeric_limits<T>::max() / T(8);
  const T height = std::fabs(y);
  const T width = std::fabs(x);
  const bool huge = (height > kHuge) | (width > kHuge);
  const T scale = huge ? T(0.25) : T(1);  // keeps their sum finite
  const T ratio = detail::atan_of_ratio(height * scale, width * scale);
  const T diagonal = height == T(0) ? T(0) : T(0.5) * detail::kHalfPi<T>;
  const T angle = height == width ? diagonal : ratio;
  // pi - angle, with the low part of pi.
  const T left = detail::kPi<T> - (angle - detail::kPiLow<T>);
  const bool is_left =
      std::copysign(T(1), x) < T(0);  // also for -0; std::signbit(double) does not vectorise
  return std::copysign(is_left ? left : angle, y);
}

}  // namespace phi::fast
