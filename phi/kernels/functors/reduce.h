// Reducers: the type and initial value of an accumulator, and how values are combined.
//
// Lane is the type in the vectorised inner loop over a short block. Acc is the type of the value
// carried from block to block: float sums are float within a block and double across blocks. If a
// reducer has lift(x), that is combined instead of the element. join_numbers is a faster join that
// is correct if no element is NaN.
// element is NaN, and quicker.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {

/// The value that a reducer combines for element x.
template <typename R, typename C>
PHI_HD typename R::Lane lift(C x) {
  if constexpr (requires { R::lift(x); }) {
    return R::lift(x);
  } else {
    return static_cast<typename R::Lane>(x);
  }
}

/// Combines two accumulators of many elements each.
template <typename R>
PHI_HD typename R::Acc merge(typename R::Acc a, typename R::Acc b) {
  if constexpr (requires { R::merge(a, b); }) {
    return R::merge(a, b);
  } else {
    return R::join(a, b);
  }
}

/// A sum in N: int64, float or double.
template <typename N>
struct SumOfNumbersReducer {
  using Lane = N;
  using Acc = std::conditional_t<std::is_integral_v<N>, int64_t, double>;
  static constexpr Lane kIdentity = 0;
  PHI_HD static Lane join(Lane a, Lane b) { return AddFunctor<Lane>()(a, b); }
  PHI_HD static Acc carry(Acc sum, Lane block) {
    return AddFunctor<Acc>()(sum, static_cast<Acc>(block));
  }
  PHI_HD static Acc merge(Acc a, Acc b) { return AddFunctor<Acc>()(a, b); }
};
/// A sum of elements of T.
template <typename T>
using SumReducer =
    SumOfNumbersReducer<std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>>;

/// The maximum. NaN has priority; without elements it is -inf, or the lowest integer.
template <typename T>
struct MaxReducer {
  using Lane = compute_t<T>;
  using Acc = Lane;
  static constexpr Lane kIdentity = std::is_floating_point_v<Lane>
                                        ? -std::numeric_limits<Lane>::infinity()
                                        : std::numeric_limits<Lane>::lowest();
  PHI_HD static Lane join(Lane a, Lane b) {
    const Lane most = a > b ? a : b;  // one instruction; b if either is NaN
    return a != a ? a : most;
  }
  PHI_HD static Lane join_numbers(Lane a, Lane b) { return a > b ? a : b; }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

/// The minimum. NaN has priority; without elements it is inf, or the largest integer.
template <typename T>
struct MinReducer {
  using Lane = compute_t<T>;
  using Acc = Lane;
  static constexpr Lane kIdentity = std::is_floating_point_v<Lane>
                                        ? std::numeric_limits<Lane>::infinity()
                                        : std::numeric_limits<Lane>::max();
  PHI_HD static Lane join(Lane a, Lane b) {
    const Lane least = a < b ? a : b;
    return a != a ? a : least;
  }
  PHI_HD static Lane join_numbers(Lane a, Lane b) { return a < b ? a : b; }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

/// The product. Products of floats are computed in double, so that intermediate values do not
/// overflow.
template <typename T>
struct ProdReducer {
  using Lane = std::conditional_t<std::is_integral_v<T>, int64_t,
                                  std::conditional_t<kIsComplex<T>, complex128, double>>;
  using Acc = Lane;
  static constexpr Lane kIdentity = 1;
  PHI_HD static Lane join(Lane a, Lane b) { return MultiplyFunctor<Lane>()(a, b); }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

/// Whether all elements are non-zero; NaN is non-zero.
template <typename T>
struct AllReducer {
  using Lane = uint8_t;
  using Acc = uint8_t;
  static constexpr Lane kIdentity = 1;
  PHI_HD static Lane lift(compute_t<T> x) { return x != compute_t<T>(0); }
  PHI_HD static Lane join(Lane a, Lane b) { return a & b; }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

/// Whether any element is non-zero.
template <typename T>
struct AnyReducer {
  using Lane = uint8_t;
  using Acc = uint8_t;
  static constexpr Lane kIdentity = 0;
  PHI_HD static Lane lift(compute_t<T> x) { return x != compute_t<T>(0); }
  PHI_HD static Lane join(Lane a, Lane b) { return a | b; }
  PHI_HD static Acc carry(Acc a, Lane b) { return join(a, b); }
};

/// The number of non-zero elements. Here and below, T is a floating type.
template <typename T>
struct CountReducer : SumReducer<T> {
  using Lane = typename SumReducer<T>::Lane;
  PHI_HD static Lane lift(compute_t<T> x) { return x != compute_t<T>(0) ? Lane(1) : Lane(0); }
};

template <typename T>
struct SumOfMagnitudesReducer : SumReducer<T> {
  using Lane = typename SumReducer<T>::Lane;
  PHI_HD static Lane lift(compute_t<T> x) { return std::fabs(x); }
};

/// In double, which can represent the square of any float.
template <typename T>
struct SumOfSquaresReducer : SumReducer<double> {
  PHI_HD static double lift(compute_t<T> x) {
    return static_cast<double>(x) * static_cast<double>(x);
  }
};

/// 0 without elements.
template <typename T>
struct LargestMagnitudeReducer : MaxReducer<T> {
  using Lane = typename MaxReducer<T>::Lane;
  static constexpr Lane kIdentity = 0;
  PHI_HD static Lane lift(compute_t<T> x) { return std::fabs(x); }
};

template <typename T>
struct SmallestMagnitudeReducer : MinReducer<T> {
  using Lane = typename MinReducer<T>::Lane;
  PHI_HD static Lane lift(compute_t<T> x) { return std::fabs(x); }
};

}  // namespace phi
