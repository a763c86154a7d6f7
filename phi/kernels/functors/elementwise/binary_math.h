// Powers, remainders, angles and other functions of two numbers. T is a compute type (compute_t).
// NaN and infinities follow C and Python; integers have no undefined behaviour.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/fast/power.h"
#include "phi/kernels/functors/fast/trig.h"

namespace phi {

/// x^y. An integer power wraps around. With a negative y it is truncated, so only powers of 1 and
/// -1 are non-zero.
template <typename T>
struct ElementwisePowFunctor {
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y < T(0)) return of_unit(x, y);
      const MultiplyFunctor<T> multiply;
      T power = 1;
      for (auto left = static_cast<std::make_unsigned_t<T>>(y); left > 0; left >>= 1) {
        if (left & 1) power = multiply(power, x);
        x = multiply(x, x);
      }
      return power;
    } else {
      return fast::pow(x, y);
    }
  }

 private:
  // For a negative y: 1 and -1 are their own inverses; other powers are fractions.
  PHI_HD static T of_unit(T x, T y) {
    if (x == T(1)) return T(1);
    return x == static_cast<T>(-1) ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T(0);
  }
};

namespace detail {

/// x = whole * y + rest. A non-zero rest has y's sign.
template <typename T>
struct FlooredQuotient {
  T whole;
  T rest;
};

/// Whether floored_quotient is exact for x and y: their quotient uses few bits.
template <typename T>
PHI_HD bool has_short_quotient(T x, T y) {
  constexpr T kShort = T(uint64_t{1} << (std::numeric_limits<T>::digits - 3));
  const T divisor = std::fabs(y);
  return (std::fabs(x) <= divisor * kShort) & (divisor > T(0)) &
         (divisor <= std::numeric_limits<T>::max());
}

/// trunc(x / y) is at most 1 too far from 0, because of rounding. The rest is exact. If its sign
/// differs from y's, the quotient is above the floor, either because of rounding or because it is
/// negative and has a fraction. Then 1 is subtracted.
template <typename T>
PHI_HD FlooredQuotient<T> floored_quotient(T x, T y) {
  const T whole = std::trunc(x / y);
  const T rest = std::fma(-whole, y, x);
  const bool is_above = (rest != T(0)) & ((rest < T(0)) != (y < T(0)));
  return {is_above ? whole - T(1) : whole, is_above ? rest + y : rest};
}

}  // namespace detail

/// The remainder with y's sign, like Python's `%`. An integer y must not be 0.
template <typename T>
struct RemainderFunctor {
  PHI_HD static bool takes_fast_path(T x, T y) requires std::is_floating_point_v<T> {
    return detail::has_short_quotient(x, y);
  }
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (std::is_signed_v<T> && y == T(-1)) return 0;  // x % -1 overflows for the lowest x
      const T rest = static_cast<T>(x % y);
      return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
    } else {
      const T rest = detail::floored_quotient(x, y).rest;
      return rest == T(0) ? std::copysign(T(0), x) : rest;
    }
  }
  PHI_HD T slow_path(T x, T y) const requires std::is_floating_point_v<T> {
    const T rest = std::fmod(x, y);
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
  }
};

/// The quotient rounded down, like Python's `//`: x = y * quotient + remainder. An integer y must
/// not be 0.
template <typename T>
struct FloorDivideFunctor {
  PHI_HD static bool takes_fast_path(T x, T y) requires std::is_floating_point_v<T> {
    return detail::has_short_quotient(x, y);
  }
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const T quotient = DivideFunctor<T>()(x, y);
      const bool inexact = y != T(-1) && x % y != 0;
      return inexact && (x < 0) != (y < 0) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return detail::floored_quotient(x, y).whole;
    }
  }
  PHI_HD T slow_path(T x, T y) const requires std::is_floating_point_v<T> {
    if (y == T(0)) return x / y;
    const T rest = std::fmod(x, y);
    T quotient = (x - rest) / y;  // an integer up to rounding
    if (rest != T(0) && (rest < T(0)) != (y < T(0))) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), x / y);
    const T below = std::floor(quotient);
    return quotient - below > T(0.5) ? below + T(1) : below;
  }
};

/// The angle of the point (y, x) in [-pi, pi]; x is the argument that C calls y.
template <typename T>
struct Atan2Functor {
  PHI_HD T operator()(T x, T y) const { return fast::atan2(x, y); }
};

/// |x| with the sign of y. Integers have no negative 0.
template <typename T>
struct CopySignFunctor {
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::copysign(x, y);
    } else if constexpr (std::is_signed_v<T>) {
      return (x < T(0)) == (y < T(0)) ? x : SubtractFunctor<T>()(T(0), x);
    } else {
      return x;
    }
  }
};

/// 1 for positive x, y for x = 0, and 0 for negative x and NaN.
template <typename T>
struct HeavisideFunctor {
  PHI_HD T operator()(T x, T y) const { return x == T(0) ? y : x > T(0) ? T(1) : T(0); }
};

/// The next number after x in the direction of y. Numbers of one sign are ordered like their bits.
template <typename T>
struct NextAfterFunctor {
  PHI_HD T operator()(T x, T y) const {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1);
    const Bits from = std::bit_cast<Bits>(x);
    const Bits to = std::bit_cast<Bits>(y);
    const Bits beyond = from + 1;
    const Bits before = from - 1;
    const Bits above = x > T(0) ? beyond : before;
    const Bits below = x > T(0) ? before : beyond;
    Bits next = x < y ? above : below;
    next = x == T(0) ? (to & kSign) | 1 : next;
    next = x == y ? to : next;
    return (x == x) & (y == y) ? std::bit_cast<T>(next) : x + y;
  }
};

}  // namespace phi
