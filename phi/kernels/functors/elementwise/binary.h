// Elementwise functions of two values. T is a compute type (compute_t). For bool, addition is or
// and multiplication is and.
#pragma once

#include <cstdint>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

namespace detail {
/// The unsigned type in which integers wrap around; signed overflow is undefined.
template <typename T>
using wrapping_t = std::conditional_t<std::is_same_v<T, int32_t>, uint32_t,
                                      std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>>;
}  // namespace detail

template <typename T>
struct AddFunctor {
  PHI_HD T operator()(T x, T y) const {
    using W = detail::wrapping_t<T>;
    return static_cast<T>(static_cast<W>(x) + static_cast<W>(y));
  }
};

template <typename T>
struct SubtractFunctor {
  PHI_HD T operator()(T x, T y) const {
    using W = detail::wrapping_t<T>;
    return static_cast<T>(static_cast<W>(x) - static_cast<W>(y));
  }
};

template <typename T>
struct MultiplyFunctor {
  PHI_HD T operator()(T x, T y) const {
    using W = detail::wrapping_t<T>;
    return static_cast<T>(static_cast<W>(x) * static_cast<W>(y));
  }
};

/// An integer quotient is truncated; an integer y must not be 0. The lowest integer divided by -1
/// wraps around.
template <typename T>
struct DivideFunctor {
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (y == T(-1)) return SubtractFunctor<T>()(T(0), x);
    }
    return static_cast<T>(x / y);
  }
};

template <typename T>
struct EqualFunctor {
  PHI_HD bool operator()(T x, T y) const { return x == y; }
};

template <typename T>
struct NotEqualFunctor {
  PHI_HD bool operator()(T x, T y) const { return x != y; }
};

// Complex numbers are ordered by their real parts, then by their imaginary parts, as in NumPy.
template <typename T>
struct GreaterThanFunctor {
  PHI_HD bool operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      return x.real() == y.real() ? x.imag() > y.imag() : x.real() > y.real();
    } else {
      return x > y;
    }
  }
};

template <typename T>
struct GreaterEqualFunctor {
  PHI_HD bool operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      return x.real() == y.real() ? x.imag() >= y.imag() : x.real() >= y.real();
    } else {
      return x >= y;
    }
  }
};

template <typename T>
struct LessThanFunctor {
  PHI_HD bool operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      return x.real() == y.real() ? x.imag() < y.imag() : x.real() < y.real();
    } else {
      return x < y;
    }
  }
};

template <typename T>
struct LessEqualFunctor {
  PHI_HD bool operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      return x.real() == y.real() ? x.imag() <= y.imag() : x.real() <= y.real();
    } else {
      return x <= y;
    }
  }
};

/// NaN has priority.
template <typename T>
struct MaximumFunctor {
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return x >= y || x != x ? x : y;
    } else {
      return x >= y ? x : y;
    }
  }
};

/// NaN has priority.
template <typename T>
struct MinimumFunctor {
  PHI_HD T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return x <= y || x != x ? x : y;
    } else {
      return x <= y ? x : y;
    }
  }
};

/// A number has priority over NaN.
template <typename T>
struct FMaxFunctor {
  PHI_HD T operator()(T x, T y) const { return x >= y || y != y ? x : y; }
};

template <typename T>
struct FMinFunctor {
  PHI_HD T operator()(T x, T y) const { return x <= y || y != y ? x : y; }
};

}  // namespace phi
