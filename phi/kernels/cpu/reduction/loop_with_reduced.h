// Elementwise loops over arrays and the reductions of their rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

namespace detail {

/// One run: n elements of one row (step 0), or one element of each of n rows (step 1).
template <typename C, typename R, size_t kArrays, size_t kReduced, typename F>
inline void run_with_reduced(const std::array<const C*, kArrays>& x,
                             const std::array<const R*, kReduced>& reduced, int64_t step, C* to,
                             int64_t n, const F& f) {
  const auto loop = [&]<size_t... A, size_t... K>(std::index_sequence<A...>,
                                                  std::index_sequence<K...>) {
    const std::array<const C*, kArrays> xs = x;  // a local copy, which no store can change
    const std::array<const R*, kReduced> rs = reduced;
    if (step == 0) {
      const std::array<R, kReduced> values{*rs[K]...};
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<C>(f(xs[A][i]..., values[K]...));
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<C>(f(xs[A][i]..., rs[K][i]...));
    }
  };
  loop(std::make_index_sequence<kArrays>(), std::make_index_sequence<kReduced>());
}

}  // namespace detail

/// Sets to[i] = f(x[0][i], .., reduced[0][k], ..). k is the position of element i in what remains
/// of `dims` if the dims of `axes` are reduced. R is the element type of the reduced arrays. `to`
/// may be one of x.
template <typename T, typename R, size_t kArrays, size_t kReduced, typename F>
void loop_with_reduced(const Dims& dims, AxisSet axes, const std::array<const T*, kArrays>& x,
                       const std::array<const R*, kReduced>& reduced, T* to, const F& f) {
  using C = compute_t<T>;
  if (dims.numel() == 0) return;
  Dims left = dims;
  for (int d = 0; d < left.ndim(); ++d) {
    if (axes.has(d)) left[d] = 1;
  }
  const Broadcast<1> rows(dims, {&left});
  const int64_t step = rows.inner_stride(0);
  const auto run = [=](int64_t at, int64_t first, int64_t n) {
    std::array<const R*, kReduced> values;
    for (size_t k = 0; k < kReduced; ++k) values[k] = reduced[k] + first;
    std::array<const C*, kArrays> in;
    if constexpr (kIs16Bit<T>) {
      C buffer[kArrays][kConvertBlock];
      C result[kConvertBlock];
      for (int64_t begin = 0; begin < n; begin += kConvertBlock) {
        const int64_t count = std::min(kConvertBlock, n - begin);
        for (size_t k = 0; k < kArrays; ++k) {
          convert(x[k] + at + begin, buffer[k], count);
          in[k] = buffer[k];
        }
        detail::run_with_reduced(in, values, step, result, count, f);
        convert(result, to + at + begin, count);
        for (size_t k = 0; k < kReduced; ++k) values[k] += step * count;
      }
    } else {
      for (size_t k = 0; k < kArrays; ++k) in[k] = x[k] + at;
      detail::run_with_reduced(in, values, step, to + at, n, f);
    }
  };
  run_best_isa<C>([=, &rows] {
    rows.for_each_row([&](int64_t at, const std::array<int64_t, 1>& from, int64_t count) {
      run(at, from[0], count);
    });
  });
}

}  // namespace phi
