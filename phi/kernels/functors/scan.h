// Scans along a line: the type and initial value of the state, how an element is added (join), how
// two states are combined (merge), and the value of a state. T is a compute type (compute_t).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/fast/math.h"

namespace phi {

/// Float sums are carried in double. Integers wrap around.
template <typename T>
struct SumScan {
  using State = std::conditional_t<std::is_integral_v<T>, int64_t,
                                   std::conditional_t<kIsComplex<T>, complex128, double>>;
  PHI_HD static constexpr State start() { return 0; }
  PHI_HD static State join(State sum, T x) { return merge(sum, static_cast<State>(x)); }
  PHI_HD static State merge(State a, State b) { return AddFunctor<State>()(a, b); }
  PHI_HD static T value(State sum) { return static_cast<T>(sum); }
};

template <typename T>
struct ProdScan {
  using State = typename SumScan<T>::State;
  PHI_HD static constexpr State start() { return 1; }
  PHI_HD static State join(State product, T x) { return merge(product, static_cast<State>(x)); }
  PHI_HD static State merge(State a, State b) { return MultiplyFunctor<State>()(a, b); }
  PHI_HD static T value(State product) { return static_cast<T>(product); }
};

/// log(sum(exp(x))), stored as the largest x and the sum relative to it. Infinities and NaN follow
/// the formula. Without elements it is the lowest number, as in Paddle.
template <typename T>
struct LogSumExpScan {
  struct State {
    T most;
    double sum;
  };
  PHI_HD static constexpr State start() { return {std::numeric_limits<T>::lowest(), 0.0}; }
  PHI_HD static State join(State state, T x) {
    if (state.sum == 0.0) return {x, 1.0};
    if (x == state.most) return {x, state.sum + 1.0};
    if (x < state.most) return {state.most, state.sum + fast::exp(x - state.most)};
    if (x > state.most) return {x, state.sum * fast::exp(state.most - x) + 1.0};
    return {std::numeric_limits<T>::quiet_NaN(), 1.0};
  }
  PHI_HD static State merge(State a, State b) {
    if (a.sum == 0.0) return b;
    if (b.sum == 0.0) return a;
    if (a.most == b.most) return {a.most, a.sum + b.sum};
    if (b.most < a.most) return {a.most, a.sum + b.sum * fast::exp(b.most - a.most)};
    if (b.most > a.most) return {b.most, a.sum * fast::exp(a.most - b.most) + b.sum};
    return {std::numeric_limits<T>::quiet_NaN(), 1.0};
  }
  PHI_HD static T value(State state) {
    if (state.sum <= 1.0) return state.most;
    return state.most + static_cast<T>(std::log(state.sum));
  }
};

/// Whether x replaces the largest element so far. Of equal elements, and of NaNs, the last counts.
template <typename T>
struct IsLargest {
  PHI_HD bool operator()(T x, T most) const { return x != x || x >= most; }
};
template <typename T>
struct IsSmallest {
  PHI_HD bool operator()(T x, T least) const { return x != x || x <= least; }
};

/// exp(a - b), and 1 for equal infinities.
PHI_HD double exp_difference(double a, double b) { return a == b ? 1.0 : std::exp(a - b); }

}  // namespace phi
