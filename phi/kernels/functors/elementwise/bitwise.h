// Logical and bitwise functions, and shifts. A shift by a negative number, or by at least the
// number of bits, leaves only the sign.
#pragma once

#include <type_traits>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// Every non-zero value is true, including NaN.
template <typename T>
struct LogicalAndFunctor {
  PHI_HD bool operator()(T x, T y) const { return (x != T(0)) & (y != T(0)); }
};

template <typename T>
struct LogicalOrFunctor {
  PHI_HD bool operator()(T x, T y) const { return (x != T(0)) | (y != T(0)); }
};

template <typename T>
struct LogicalXorFunctor {
  PHI_HD bool operator()(T x, T y) const { return (x != T(0)) != (y != T(0)); }
};

template <typename T>
struct BitwiseAndFunctor {
  PHI_HD T operator()(T x, T y) const { return static_cast<T>(x & y); }
};

template <typename T>
struct BitwiseOrFunctor {
  PHI_HD T operator()(T x, T y) const { return static_cast<T>(x | y); }
};

template <typename T>
struct BitwiseXorFunctor {
  PHI_HD T operator()(T x, T y) const { return static_cast<T>(x ^ y); }
};

namespace detail {
/// Whether y is a valid shift of a T.
template <typename T>
PHI_HD bool is_shift(T y) {
  return y >= T(0) && static_cast<std::make_unsigned_t<T>>(y) < 8 * sizeof(T);
}
}  // namespace detail

template <typename T>
struct LeftShiftFunctor {
  PHI_HD T operator()(T x, T y) const {
    using Bits = std::make_unsigned_t<T>;
    return detail::is_shift(y) ? static_cast<T>(static_cast<Bits>(x) << y) : T(0);
  }
};

/// Shifts in copies of the sign bit.
template <typename T>
struct ArithmeticRightShiftFunctor {
  PHI_HD T operator()(T x, T y) const {
    return detail::is_shift(y) ? static_cast<T>(x >> y) : static_cast<T>(x < T(0) ? -1 : 0);
  }
};

/// Shifts in zeros.
template <typename T>
struct LogicalRightShiftFunctor {
  PHI_HD T operator()(T x, T y) const {
    using Bits = std::make_unsigned_t<T>;
    return detail::is_shift(y) ? static_cast<T>(static_cast<Bits>(x) >> y) : T(0);
  }
};

}  // namespace phi
