// Log-sum-exp as a reducer that reads elements once, in any order.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// sum * exp(most): a sum of exponentials, relative to the largest exponent. A NaN element makes
/// the sum NaN.
template <typename C, typename Sum>
struct ScaledSum {
  C most;
  Sum sum;
  template <typename Other>
  PHI_HD explicit constexpr operator ScaledSum<C, Other>() const {
    return {most, static_cast<Other>(sum)};
  }
};

/// A reducer (functors/reduce.h). Source: M. Milakov, N. Gimelshein, "Online normalizer calculation
/// for softmax", 2018, equations 4 and 5.
template <typename T>
struct LogSumExpReducer {
  using C = compute_t<T>;
  using value_type = ScaledSum<C, C>;
  using State = ScaledSum<C, double>;
  /// The value of no elements. -inf would not work: its difference to itself is NaN.
  static constexpr value_type kIdentity = {std::numeric_limits<C>::lowest(), 0};

  PHI_HD static value_type lift(C x) { return {x, C(1)}; }
  template <typename Sum, typename Other>
  PHI_HD static ScaledSum<C, Sum> join(const ScaledSum<C, Sum>& a, const Other& b) {
    // The difference of two infinities of one sign must be 0, not NaN.
    const C by = a.most == b.most ? C(0) : b.most - a.most;
    const Sum less = factor<Sum>(by > 0 ? -by : by);
    const auto sum = static_cast<Sum>(b.sum);
    if (by > 0) return {b.most, a.sum * less + sum};
    return {a.most, a.sum + sum * less};
  }
  PHI_HD static State carry(const State& a, const value_type& b) { return join(a, b); }

 private:
  /// exp(x) for x <= 0. A carried sum is scaled many times by factors just below 1, so their
  /// difference from 1 is computed at the full precision of C.
  template <typename Sum>
  PHI_HD static Sum factor(C x) {
    if constexpr (std::is_same_v<Sum, C>) {
      return std::exp(x);
    } else {
      return Sum(1) + static_cast<Sum>(std::expm1(x));
    }
  }
};

template <typename C>
struct LogOfSum {
  PHI_HD C operator()(const ScaledSum<C, double>& of) const {
    return of.most + std::log(static_cast<C>(of.sum));
  }
};

}  // namespace phi
