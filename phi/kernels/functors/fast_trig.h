// Trigonometric functions and their inverses that compilers vectorise, as fast_math.h has others:
// float by polynomials, double by the standard library.
//
//   float y = phi::fast::sin(x);  // where is_reducible(x); the error is below 1e-7
//
// Ranges and polynomials follow S. Moshier's Cephes library (sinf, asinf, atanf).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast_math.h"

namespace phi::fast {

namespace detail {

/// Quarter turns of pi / 2, and what is left of `x` beside them.
struct QuarterTurns {
  uint32_t quarter;
  float rest;
};

/// pi / 2 in three parts, of which the first two have so few bits that their products with the
/// number of quarter turns are exact.
PHI_HD QuarterTurns quarter_turns(float x) {
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 0.63661977236758134f + kRound;
  const float n = shifted - kRound;
  const float rest = ((x - n * 1.5703125f) - n * 4.837512969970703e-4f) - n * 7.549789954891e-8f;
  return {std::bit_cast<uint32_t>(shifted), rest};
}

/// asin(x) for |x| <= 1/2.
PHI_HD float asin_polynomial(float x) {
  const float z = x * x;
  float p = 4.2163199048e-2f;
  p = p * z + 2.4181311049e-2f;
  p = p * z + 4.5470025998e-2f;
  p = p * z + 7.4953002686e-2f;
  p = p * z + 1.6666752422e-1f;
  return p * z * x + x;
}

}  // namespace detail

/// Whether the float functions below take x: not too far from 0, and no NaN.
PHI_HD bool is_reducible(float x) { return std::fabs(x) <= 8192.0f; }
PHI_HD bool is_reducible(double) { return true; }

PHI_HD float sin(float x) {
  const detail::QuarterTurns turns = detail::quarter_turns(x);
  float sine;
  float cosine;
  detail::sincos_of(turns.quarter, turns.rest, &sine, &cosine);
  return x == 0.0f ? x : sine;  // -0 too
}
PHI_HD double sin(double x) { return std::sin(x); }

PHI_HD float cos(float x) {
  const detail::QuarterTurns turns = detail::quarter_turns(x);
  float sine;
  float cosine;
  detail::sincos_of(turns.quarter, turns.rest, &sine, &cosine);
  return cosine;
}
PHI_HD double cos(double x) { return std::cos(x); }

PHI_HD float tan(float x) {
  const detail::QuarterTurns turns = detail::quarter_turns(x);
  float sine;
  float cosine;
  detail::sincos_of(turns.quarter, turns.rest, &sine, &cosine);
  return x == 0.0f ? x : sine / cosine;
}
PHI_HD double tan(double x) { return std::tan(x); }

/// NaN outside [-1, 1]. Near the ends by the half angle: asin(x) = pi / 2 - 2 asin(sqrt((1 - x) /
/// 2)).
PHI_HD float asin(float x) {
  const float magnitude = std::fabs(x);
  const bool outer = magnitude > 0.5f;
  const float inner = outer ? std::sqrt(0.5f * (1.0f - magnitude)) : magnitude;
  const float p = detail::asin_polynomial(inner);
  return std::copysign(outer ? 1.57079632679f - 2.0f * p : p, x);
}
PHI_HD double asin(double x) { return std::asin(x); }

PHI_HD float acos(float x) {
  const float magnitude = std::fabs(x);
  const bool outer = magnitude > 0.5f;
  const float inner = outer ? std::sqrt(0.5f * (1.0f - magnitude)) : x;
  const float p = detail::asin_polynomial(inner);
  const float near_one = 2.0f * p;
  const float far = x < 0.0f ? 3.14159265359f - near_one : near_one;
  return outer ? far : 1.57079632679f - p;
}
PHI_HD double acos(double x) { return std::acos(x); }

namespace detail {
/// atan(above / below) for numbers that are not negative, by one division, with
/// atan(x) = pi / 4 + atan((x - 1) / (x + 1)) and pi / 2 + atan(-1 / x). NaN for 0 / 0 and for two
/// infinities; their sum is finite otherwise.
PHI_HD float atan_of_ratio(float above, float below) {
  const bool far = above > 2.414213562373095f * below;
  const bool middle = above > 0.4142135623730950f * below;
  const float top = far ? -below : (middle ? above - below : above);
  const float bottom = far ? above : (middle ? above + below : below);
  const float start = far ? 1.5707963267948966f : (middle ? 0.7853981633974483f : 0.0f);
  const float t = top / bottom;
  const float z = t * t;
  float p = 8.05374449538e-2f;
  p = p * z - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  p = p * z - 3.33329491539e-1f;
  return start + (p * z * t + t);
}
}  // namespace detail

PHI_HD float atan(float x) { return std::copysign(detail::atan_of_ratio(std::fabs(x), 1.0f), x); }
PHI_HD double atan(double x) { return std::atan(x); }

/// The angle of the point (x, y), in [-pi, pi]; signs of zeros count as in std::atan2.
PHI_HD float atan2(float y, float x) {
  const float height = std::fabs(y);
  const float width = std::fabs(x);
  const bool huge = (height > 0x1p126f) | (width > 0x1p126f);
  const float scale = huge ? 0.25f : 1.0f;  // so that their sum is finite
  const float ratio = detail::atan_of_ratio(height * scale, width * scale);
  const float diagonal = height == 0.0f ? 0.0f : 0.7853981633974483f;
  const float angle = height == width ? diagonal : ratio;
  // pi - angle, with the digits of pi that one float lacks.
  const float left = 3.14159274101257324f - (angle + 8.74227765734758577e-8f);
  return std::copysign(std::signbit(x) ? left : angle, y);
}
PHI_HD double atan2(double y, double x) { return std::atan2(y, x); }

}  // namespace phi::fast
