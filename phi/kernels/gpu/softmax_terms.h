// exp(v - most), the terms of a softmax, and their sum over a row, on GPUs.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/rough_exp2.h"
#include "phi/kernels/gpu/rows.h"

namespace phi::gpu {

/// Of elements of T. For 16-bit ones within 1e-5, a hundredth of what their last bit is worth: an
/// exact one takes three times as many instructions, and memory would wait for them.
template <typename T>
struct PowerBelow {
  using C = compute_t<T>;
  C most;
  PHI_HD C operator()(C v) const {
    if constexpr (kIs16Bit<T>) {
      constexpr float kLog2e = 1.44269504088896341f;
      return rough_exp2((v - most) * kLog2e);
    } else {
      return std::exp(v - most);
    }
  }
};

/// Relative to the largest of the elements so far, or here: while all are -inf their terms are 0,
/// as beside any number.
template <typename T>
__device__ PowerBelow<T> terms_below(compute_t<T> most) {
  return {most == -std::numeric_limits<compute_t<T>>::infinity() ? compute_t<T>(0) : most};
}

/// The largest element of a row, and the sum of the terms.
template <typename C>
struct SoftmaxSum {
  C most;
  C sum;
};

/// A thread's share of a row that is read once for both: the sum so far is of terms relative to the
/// largest element so far.
template <typename T>
struct RunningSum {
  using C = compute_t<T>;
  C most = -std::numeric_limits<C>::infinity();
  double sum = 0;

  __device__ void raise(C to) {
    sum *= static_cast<double>(terms_below<T>(to)(most));
    most = to;
  }
  template <int kWidth>
  __device__ void add(const Pack<C, kWidth>& pack) {
    C largest = most;
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) largest = LargestNumber<C>::join(largest, pack.element[e]);
    if (largest > most) raise(largest);
    const auto term = terms_below<T>(most);
    C few = 0;
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) few += term(pack.element[e]);
    sum += static_cast<double>(few);
  }
};

/// Of a row's elements of T. A NaN or +inf: the sum is NaN. Nothing but -inf: it is 0, and the
/// shares are NaN whatever it is.
template <typename T, typename Row, typename Elements>
__device__ SoftmaxSum<compute_t<T>> softmax_sum(const Row& row, const Elements& own) {
  using C = compute_t<T>;
  if constexpr (Row::kReadsAgain) {
    RunningSum<T> running;
    row.each_of_packs([&](const auto& pack) { running.add(pack); }, own);
    const C most = row.template join<LargestNumber<C>>(running.most);
    running.raise(most);
    return {most, static_cast<C>(row.template join<PlainSum<double>>(running.sum))};
  } else {
    const C most = row.largest(own);
    return {most, row.sum(terms_below<T>(most), own)};
  }
}

/// The row of `out` is its softmax.
template <typename T, typename Row, typename Elements>
__device__ void write_shares(const Row& row, const Elements& own,
                             const SoftmaxSum<compute_t<T>>& of, T* out) {
  using C = compute_t<T>;
  const PowerBelow<T> power{of.most};
  const C factor = C(1) / of.sum;
  row.write(
      out, [=](C v) { return power(v) * factor; }, own);
}

}  // namespace phi::gpu
