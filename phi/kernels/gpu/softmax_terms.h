// Softmax terms exp(v - most) and their sum over a row, on GPUs.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/approx_exp2.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi::gpu {

/// The term exp(v - most) for elements of T. For half-precision T it is approximate, with an error
/// of at most 1e-5, far below T's resolution. An exact exponential has several times as many
/// instructions, which would limit the kernel instead of memory bandwidth.
template <typename T>
struct ShiftedExp {
  using C = compute_t<T>;
  C most;
  PHI_HD C operator()(C v) const {
    if constexpr (kIs16Bit<T>) {
      constexpr float kLog2e = 1.44269504088896341f;
      return approx_exp2((v - most) * kLog2e);
    } else {
      return std::exp(v - most);
    }
  }
};

/// Terms relative to `most`, the largest element of a part of the row. If `most` is -inf, terms are
/// relative to 0 instead: exp(-inf) is 0, where exp(-inf + inf) would be NaN.
template <typename T>
__device__ ShiftedExp<T> shifted_exp(compute_t<T> most) {
  return {most == -std::numeric_limits<compute_t<T>>::infinity() ? compute_t<T>(0) : most};
}

/// The largest element of a row, and the sum of its terms.
template <typename C>
struct SoftmaxStatistics {
  C most;
  C sum;
};

/// A thread's share of a row whose maximum and sum are computed in one pass. `sum` is relative to
/// the largest element so far and is rescaled when that changes.
template <typename T>
struct OnlineSoftmaxSum {
  using C = compute_t<T>;
  C most = -std::numeric_limits<C>::infinity();
  double sum = 0;

  __device__ void raise(C to) {
    sum *= static_cast<double>(shifted_exp<T>(to)(most));
    most = to;
  }
  template <int kWidth>
  __device__ void add(const Pack<C, kWidth>& pack) {
    C largest = most;
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) largest = MaxIgnoringNan<C>::join(largest, pack.element[e]);
    if (largest > most) raise(largest);
    const auto term = shifted_exp<T>(most);
    C few = 0;
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) few += term(pack.element[e]);
    sum += static_cast<double>(few);
  }
};

/// Maximum and sum of a row. The sum is NaN if the row contains NaN or +inf. If all elements are
/// -inf, the sum is 0, and the softmax is NaN.
template <typename T, typename TeamRow, typename Elements>
__device__ SoftmaxStatistics<compute_t<T>> softmax_sum(const TeamRow& row, const Elements& own) {
  using C = compute_t<T>;
  if constexpr (TeamRow::kReadsAgain) {
    OnlineSoftmaxSum<T> running;
    row.each_of_packs([&](const auto& pack) { running.add(pack); }, own);
    const C most = row.template join<MaxIgnoringNan<C>>(running.most);
    running.raise(most);
    return {most, static_cast<C>(row.template join<PlainSum<double>>(running.sum))};
  } else {
    const C most = row.largest(own);
    return {most, row.sum(shifted_exp<T>(most), own)};
  }
}

/// Writes the row's softmax to `out`.
template <typename T, typename TeamRow, typename Elements>
__device__ void write_softmax(const TeamRow& row, const Elements& own,
                              const SoftmaxStatistics<compute_t<T>>& of, T* out) {
  using C = compute_t<T>;
  const ShiftedExp<T> power{of.most};
  const C factor = C(1) / of.sum;
  row.write(
      out, [=](C v) { return power(v) * factor; }, own);
}

}  // namespace phi::gpu
