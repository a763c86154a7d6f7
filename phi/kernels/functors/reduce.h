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
PHI_HD typename R::value_type lift(C x) {
  if constexpr (requires { R::lift(x); }) {
    return R::lift(x);
  } else {
    return static_cast<typename R::value_type>(x);
  }
}

/// Combines two accumulators of many elements each.
template <typename R>
PHI_HD typename R::State merge(typename R::State a, typename R::State b) {
  if constexpr (requires { R::merge(a, b); }) {
    return R::merge(a, b);
  } else {
    return R::join(a, b);
  }
}

/// A sum in N: int64, float or double.
template <typename N>
struct SumOfNumbersReducer {
  using value_type = N;
  using State = std::conditional_t<std::is_integral_v<N>, int64_t, double>;
  static constexpr value_type kIdentity = 0;
  PHI_HD static value_type join(value_type a, value_type b) {
    return AddFunctor<value_type>()(a, b);
  }
  PHI_HD static State carry(State sum, value_type block) {
    return AddFunctor<State>()(sum, static_cast<State>(block));
  }
  PHI_HD static State merge(State a, State b) { return AddFunctor<State>()(a, b); }
};
/// A sum of elements of T.
template <typename T>
using SumReducer =
    SumOfNumbersReducer<std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>>;

/// The maximum. NaN has priority; without elements it is -inf, or the lowest integer.
template <typename T>
struct MaxReducer {
  using value_type = compute_t<T>;
  using State = value_type;
  static constexpr value_type kIdentity = std::is_floating_point_v<value_type>
                                              ? -std::numeric_limits<value_type>::infinity()
                                              : std::numeric_limits<value_type>::lowest();
  PHI_HD static value_type join(value_type a, value_type b) {
    const value_type most = a > b ? a : b;  // one instruction; b if either is NaN
    return a != a ? a : most;
  }
  PHI_HD static value_type join_numbers(value_type a, value_type b) { return a > b ? a : b; }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// The minimum. NaN has priority; without elements it is inf, or the largest integer.
template <typename T>
struct MinReducer {
  using value_type = compute_t<T>;
  using State = value_type;
  static constexpr value_type kIdentity = std::is_floating_point_v<value_type>
                                              ? std::numeric_limits<value_type>::infinity()
                                              : std::numeric_limits<value_type>::max();
  PHI_HD static value_type join(value_type a, value_type b) {
    const value_type least = a < b ? a : b;
    return a != a ? a : least;
  }
  PHI_HD static value_type join_numbers(value_type a, value_type b) { return a < b ? a : b; }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// The product. Products of floats are computed in double, so that intermediate values do not
/// overflow.
template <typename T>
struct ProdReducer {
  using value_type = std::conditional_t<std::is_integral_v<T>, int64_t,
                                        std::conditional_t<kIsComplex<T>, complex128, double>>;
  using State = value_type;
  static constexpr value_type kIdentity = 1;
  PHI_HD static value_type join(value_type a, value_type b) {
    return MultiplyFunctor<value_type>()(a, b);
  }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// Whether all elements are non-zero; NaN is non-zero.
template <typename T>
struct AllReducer {
  using value_type = uint8_t;
  using State = uint8_t;
  static constexpr value_type kIdentity = 1;
  PHI_HD static value_type lift(compute_t<T> x) { return x != compute_t<T>(0); }
  PHI_HD static value_type join(value_type a, value_type b) { return a & b; }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// Whether any element is non-zero.
template <typename T>
struct AnyReducer {
  using value_type = uint8_t;
  using State = uint8_t;
  static constexpr value_type kIdentity = 0;
  PHI_HD static value_type lift(compute_t<T> x) { return x != compute_t<T>(0); }
  PHI_HD static value_type join(value_type a, value_type b) { return a | b; }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// The number of non-zero elements. Here and below, T is a floating type.
template <typename T>
struct CountReducer : SumReducer<T> {
  using value_type = typename SumReducer<T>::value_type;
  PHI_HD static value_type lift(compute_t<T> x) {
    return x != compute_t<T>(0) ? value_type(1) : value_type(0);
  }
};

template <typename T>
struct SumOfMagnitudesReducer : SumReducer<T> {
  using value_type = typename SumReducer<T>::value_type;
  PHI_HD static value_type lift(compute_t<T> x) { return std::fabs(x); }
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
  using value_type = typename MaxReducer<T>::value_type;
  static constexpr value_type kIdentity = 0;
  PHI_HD static value_type lift(compute_t<T> x) { return std::fabs(x); }
};

template <typename T>
struct SmallestMagnitudeReducer : MinReducer<T> {
  using value_type = typename MinReducer<T>::value_type;
  PHI_HD static value_type lift(compute_t<T> x) { return std::fabs(x); }
};

}  // namespace phi
