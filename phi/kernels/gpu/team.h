// Team: the threads of a block that process one line of an array together.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/common/host_device.h"
#include "phi/kernels/gpu/reduce.h"

namespace phi::gpu {

/// Reducer: the largest element that is not NaN; -inf if there is none. Softmax detects NaN in the
/// sum of exponentials, which is NaN for any shift.
template <typename C>
struct MaxIgnoringNan {
  using State = C;
  static constexpr C kIdentity = -std::numeric_limits<C>::infinity();
  PHI_HD static C join(C most, C x) { return x > most ? x : most; }
};

template <typename C>
struct SumPair {
  C a{};
  C b{};
  __device__ SumPair& operator+=(const SumPair& other) {
    a += other.a;
    b += other.b;
    return *this;
  }
};

template <typename Terms>
struct DoubleSum {
  using type = double;
};
template <typename C>
struct DoubleSum<SumPair<C>> {
  using type = SumPair<double>;
};
template <typename Terms>
using double_sum_t = typename DoubleSum<Terms>::type;

/// Converts a number, or a Two, to another type.
template <typename To, typename From>
__device__ To to(const From& x) {
  if constexpr (std::is_arithmetic_v<To>) {
    return static_cast<To>(x);
  } else {
    using C = decltype(To::a);
    return {static_cast<C>(x.a), static_cast<C>(x.b)};
  }
}

/// Reducer: the sum of numbers or of Twos.
template <typename Terms>
struct PlainSum {
  using State = Terms;
  static constexpr Terms kIdentity{};
  __device__ static Terms join(Terms x, const Terms& y) { return x += y; }
};

/// kThreads adjacent threads: one thread, a warp, or a whole block of several warps. All threads of
/// a team must call the members that combine values, and all receive the result. The order of
/// combination is fixed.
template <int kThreads>
class Team {
 public:
  static_assert(kThreads == 1 || kThreads % kWarp == 0);
  static constexpr int kSize = kThreads;

  __device__ static int index() {
    return kThreads == 1 ? 0 : static_cast<int>(threadIdx.x) % kThreads;
  }

  /// Combines the team's values of type R::State.
  template <typename R>
  __device__ static typename R::State join(typename R::State value) {
    if constexpr (kThreads > 1) {
      value = join_warp<R>(value);
      if constexpr (kThreads > kWarp) value = join_warps<R>(value);
      value = shuffle(value, ShuffleIdx{0});
    }
    return value;
  }

  /// The largest of value(0) .. value(n - 1), without NaN.
  template <typename C, typename Value>
  __device__ static C largest(int64_t n, const Value& value) {
    using R = MaxIgnoringNan<C>;
    C most = R::kIdentity;
    in_runs(
        index(), n, kThreads, [&](int64_t i) { most = R::join(most, value(i)); }, [] {});
    return join<R>(most);
  }

  /// The sum of term(0) .. term(n - 1). Terms is a number or a Two. A few terms are added as Terms,
  /// then carried into double.
  template <typename Terms, typename Term>
  __device__ static double_sum_t<Terms> wide_sum(int64_t n, const Term& term) {
    using Many = double_sum_t<Terms>;
    Many sum{};
    Terms lane{};
    in_runs(
        index(), n, kThreads, [&](int64_t i) { lane += term(i); },
        [&] {
          sum += to<Many>(lane);
          lane = Terms{};
        });
    return join<PlainSum<Many>>(sum);
  }
  template <typename C, typename Term>
  __device__ static C sum(int64_t n, const Term& term) {
    return static_cast<C>(wide_sum<C>(n, term));
  }

  /// Calls f(i) for each i in [0, n), on one thread each.
  template <typename F>
  __device__ static void each(int64_t n, const F& f) {
    for (int64_t i = index(); i < n; i += kThreads) f(i);
  }

 private:
  /// Combines the values of the first lanes of all warps. The first lane of each warp receives the
  /// result.
  template <typename R>
  __device__ static typename R::State join_warps(typename R::State value) {
    constexpr int kWarps = kThreads / kWarp;
    __shared__ typename R::State of_warps[kWarps];
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if (lane == 0) of_warps[threadIdx.x / kWarp] = value;
    __syncthreads();
    value = lane < kWarps ? of_warps[lane] : typename R::State(R::kIdentity);
    __syncthreads();  // the array may be reused
    return join_warp<R>(value);
  }
};

}  // namespace phi::gpu
