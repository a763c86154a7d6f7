// Elementary and special functions of one value. T is float or double; functors that also accept
// integers say so.
//
// A functor with `takes_fast_path` and `slow_path` has two versions: a fast, vectorisable one for
// common values and one for all others.
#pragma once

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/fast/bessel.h"
#include "phi/kernels/functors/fast/hyperbolic.h"
#include "phi/kernels/functors/fast/special.h"
#include "phi/kernels/functors/fast/trig.h"

namespace phi {

/// Functors that call one function of phi::fast.
#define PHI_FAST_FUNCTOR_(Name, function)                           \
  template <typename T>                                             \
  struct Name##Functor {                                            \
    PHI_HD T operator()(T x) const { return T(fast::function(x)); } \
  }
PHI_FAST_FUNCTOR_(Acos, acos);
PHI_FAST_FUNCTOR_(Acosh, acosh);
PHI_FAST_FUNCTOR_(Asin, asin);
PHI_FAST_FUNCTOR_(Asinh, asinh);
PHI_FAST_FUNCTOR_(Atan, atan);
PHI_FAST_FUNCTOR_(Atanh, atanh);
PHI_FAST_FUNCTOR_(Cosh, cosh);
PHI_FAST_FUNCTOR_(Erf, erf);
PHI_FAST_FUNCTOR_(Expm1, expm1);
PHI_FAST_FUNCTOR_(I0, bessel_i0);
PHI_FAST_FUNCTOR_(I0e, bessel_i0e);
PHI_FAST_FUNCTOR_(I1, bessel_i1);
PHI_FAST_FUNCTOR_(I1e, bessel_i1e);
PHI_FAST_FUNCTOR_(Log10, log10);
PHI_FAST_FUNCTOR_(Log1p, log1p);
PHI_FAST_FUNCTOR_(Log2, log2);
PHI_FAST_FUNCTOR_(Sinh, sinh);
#undef PHI_FAST_FUNCTOR_

template <typename T>
struct ErfinvFunctor {
  PHI_HD T operator()(T x) const { return fast::erfinv(x); }

  /// Equal bit for bit if |x| <= kFastPathMax.
  static constexpr T kFastPathMax = fast::kErfinvInside<T>;
  PHI_HD T fast_path(T x) const { return fast::erfinv_inside(x); }
};

/// Functors whose fast version requires an argument near 0.
#define PHI_REDUCIBLE_FUNCTOR_(Name, function)                                \
  template <typename T>                                                       \
  struct Name##Functor {                                                      \
    PHI_HD static bool takes_fast_path(T x) { return fast::is_reducible(x); } \
    PHI_HD T operator()(T x) const { return fast::function(x); }              \
    PHI_HD T slow_path(T x) const { return std::function(x); }                \
  }
PHI_REDUCIBLE_FUNCTOR_(Cos, cos);
PHI_REDUCIBLE_FUNCTOR_(Sin, sin);
PHI_REDUCIBLE_FUNCTOR_(Tan, tan);
#undef PHI_REDUCIBLE_FUNCTOR_

/// Functors whose fast version requires a positive finite argument.
#define PHI_POSITIVE_FUNCTOR_(Name, function)                                       \
  template <typename T>                                                             \
  struct Name##Functor {                                                            \
    PHI_HD static bool takes_fast_path(T x) { return fast::is_positive_finite(x); } \
    PHI_HD T operator()(T x) const { return fast::function##_positive(x); }         \
    PHI_HD T slow_path(T x) const { return T(fast::function(x)); }                  \
  }
PHI_POSITIVE_FUNCTOR_(Digamma, digamma);
PHI_POSITIVE_FUNCTOR_(Lgamma, lgamma);
#undef PHI_POSITIVE_FUNCTOR_

/// Also for integers; the lowest one is its own magnitude.
template <typename T>
struct AbsFunctor {
  PHI_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else {
      return x < T(0) ? SubtractFunctor<T>()(T(0), x) : x;
    }
  }
};

/// Also for integers. NaN gives NaN.
template <typename T>
struct SignFunctor {
  PHI_HD T operator()(T x) const {
    const T other = x < T(0) ? T(-1) : x;  // 0, -0 and NaN
    return x > T(0) ? T(1) : other;
  }
};

template <typename T>
struct ReciprocalFunctor {
  PHI_HD T operator()(T x) const { return T(1) / x; }
};

/// Rounding functions. Integers are unchanged.
#define PHI_ROUNDING_FUNCTOR_(Name, function)                          \
  template <typename T>                                                \
  struct Name##Functor {                                               \
    PHI_HD T operator()(T x) const {                                   \
      if constexpr (std::is_floating_point_v<T>) x = std::function(x); \
      return x;                                                        \
    }                                                                  \
  }
PHI_ROUNDING_FUNCTOR_(Ceil, ceil);
PHI_ROUNDING_FUNCTOR_(Floor, floor);
PHI_ROUNDING_FUNCTOR_(Trunc, trunc);
/// Rounds to the nearest integer, ties to even.
PHI_ROUNDING_FUNCTOR_(Rint, rint);
#undef PHI_ROUNDING_FUNCTOR_

/// Rounds to `decimals` digits after the point, or to tens, hundreds, .. if it is negative; ties to
/// the even digit. x is unchanged if the scaled x is not finite.
template <typename T>
struct RoundDecimalsFunctor {
  int decimals;
  T power;  // 10 to |decimals|
  PHI_HD T operator()(T x) const {
    const T scaled = decimals > 0 ? x * power : x / power;
    const T rounded = std::rint(scaled);
    const T result = decimals > 0 || rounded == T(0) ? rounded / power : rounded * power;
    return std::fabs(scaled) < std::numeric_limits<T>::infinity() ? result : x;
  }
};

/// Rounds an integer to the nearest multiple of `unit` > 1, ties to the even multiple.
template <typename T>
struct RoundToMultipleFunctor {
  T unit;
  PHI_HD T operator()(T x) const {
    const T rest = static_cast<T>(x % unit);
    const T whole = static_cast<T>(x - rest);
    const T magnitude = AbsFunctor<T>()(rest);
    const T missing = static_cast<T>(unit - magnitude);
    const bool is_odd = (whole / unit) % 2 != 0;
    if (magnitude < missing || (magnitude == missing && !is_odd)) return whole;
    return rest < T(0) ? SubtractFunctor<T>()(whole, unit) : AddFunctor<T>()(whole, unit);
  }
};

/// log(x / (1 - x)) with x clamped to [eps, 1 - eps]. If eps is 0, x outside [0, 1] gives NaN.
template <typename T>
struct LogitFunctor {
  T eps;
  PHI_HD T operator()(T x) const {
    const T above = x < eps ? eps : x;
    const T inside = above > T(1) - eps ? T(1) - eps : above;
    const T p = eps > T(0) ? inside : x;
    return fast::log(p / (T(1) - p));
  }
};

/// Equal bit for bit to LogitFunctor if takes(eps): no clamped x gives a quotient of 0 or infinity.
template <typename T>
struct LogitInsideFunctor {
  T eps;
  static bool takes(T eps) { return T(1) - eps < T(1) && eps <= T(0.5); }
  PHI_HD T operator()(T x) const {
    const T above = x < eps ? eps : x;
    const T inside = above > T(1) - eps ? T(1) - eps : above;
    const T y = fast::log_inside(inside / (T(1) - inside));
    return x == x ? y : x;
  }
};

/// The n-th derivative of digamma.
template <typename T>
struct PolygammaFunctor {
  int n;
  PHI_HD T operator()(T x) const { return fast::polygamma(n, x); }
};

/// The first derivative of digamma.
template <typename T>
struct TrigammaFunctor {
  PHI_HD T operator()(T x) const { return fast::trigamma(x); }
};

/// The angle of a real number in the complex plane: pi if negative, otherwise 0. NaN gives NaN.
template <typename T>
struct AngleFunctor {
  PHI_HD T operator()(T x) const {
    const T right = x >= T(0) ? T(0) : x;
    return x < T(0) ? std::numbers::pi_v<T> : right;
  }
};

/// x clamped to [min, max]; `max` has priority if min > max. NaN gives NaN.
template <typename T>
struct ClipFunctor {
  T min;
  T max;
  PHI_HD T operator()(T x) const {
    const T above = x < min ? min : x;
    return above > max ? max : above;
  }
};

template <typename T>
struct IncrementFunctor {
  T value;
  PHI_HD T operator()(T x) const { return AddFunctor<T>()(x, value); }
};

/// Integers are always finite.
template <typename T>
struct IsFiniteFunctor {
  PHI_HD bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return true;
    return x - x == T(0);
  }
};

template <typename T>
struct IsInfFunctor {
  PHI_HD bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return false;
    return x == x && x - x != T(0);
  }
};

template <typename T>
struct IsNanFunctor {
  PHI_HD bool operator()(T x) const { return x != x; }
};

/// Whether x is 0. NaN is not 0.
template <typename T>
struct LogicalNotFunctor {
  PHI_HD bool operator()(T x) const { return x == T(0); }
};

/// For integers.
template <typename T>
struct BitwiseNotFunctor {
  PHI_HD T operator()(T x) const { return static_cast<T>(~x); }
};

}  // namespace phi
