// Loops of elementwise functors over arrays. The output may be one of the inputs, element for
// element, but must not overlap one in any other way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/elementwise/broadcast.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/functors/rare_form.h"

namespace phi {

namespace detail {

/// out[i] = f(in(i)...).
template <typename Out, typename F, typename... In>
inline void map_run(Out* out, int64_t n, F f, In... in) {
  if constexpr (HasRareForm<F, std::invoke_result_t<In, int64_t>...>) {
    for (int64_t begin = 0; begin < n; begin += kConvertBlock) {
      const int64_t end = std::min(begin + kConvertBlock, n);
      uint32_t rare = 0;  // as wide as a float: g++ 12 vectorises no loop that folds bools
      for (int64_t i = begin; i < end; ++i) rare |= F::is_common(in(i)...) ? 0u : 1u;
      if (rare == 0) {
#pragma GCC ivdep
        for (int64_t i = begin; i < end; ++i) out[i] = f(in(i)...);
      } else {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = F::is_common(in(i)...) ? f(in(i)...) : f.rare(in(i)...);
        }
      }
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(in(i)...);
  }
}

template <typename T, typename Out, typename F>
inline void unary_run(const T* x, Out* out, int64_t n, F f) {
  if constexpr (kIs16Bit<T>) {
    float buffer[kConvertBlock];
    for (int64_t i = 0; i < n; i += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - i);
      convert(x + i, buffer, count);
      if constexpr (std::is_same_v<Out, T>) {
        unary_run(buffer, buffer, count, f);
        convert(buffer, out + i, count);
      } else {
        unary_run(buffer, out + i, count, f);
      }
    }
  } else {
    map_run(out, n, f, [x](int64_t i) { return x[i]; });
  }
}

/// out[i] = f(x[i * kStrideX], y[i * kStrideY]); strides are 0 or 1.
template <int kStrideX, int kStrideY, typename T, typename Out, typename F>
inline void binary_run(const T* x, const T* y, Out* out, int64_t n, F f) {
  if constexpr (kIs16Bit<T>) {
    float xs[kConvertBlock];
    float ys[kConvertBlock];
    if constexpr (kStrideX == 0) xs[0] = static_cast<float>(*x);
    if constexpr (kStrideY == 0) ys[0] = static_cast<float>(*y);
    for (int64_t i = 0; i < n; i += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - i);
      if constexpr (kStrideX == 1) convert(x + i, xs, count);
      if constexpr (kStrideY == 1) convert(y + i, ys, count);
      if constexpr (std::is_same_v<Out, T>) {
        float result[kConvertBlock];
        binary_run<kStrideX, kStrideY>(xs, ys, result, count, f);
        convert(result, out + i, count);
      } else {
        binary_run<kStrideX, kStrideY>(xs, ys, out + i, count, f);
      }
    }
  } else {
    const T x0 = kStrideX ? T() : *x;
    const T y0 = kStrideY ? T() : *y;
    map_run(
        out, n, f, [=](int64_t i) { return kStrideX ? x[i] : x0; },
        [=](int64_t i) { return kStrideY ? y[i] : y0; });
  }
}

template <typename T, typename Out, typename F>
inline void broadcast_run(const T* x, const Dims& x_dims, const T* y, const Dims& y_dims, Out* out,
                          const Dims& out_dims, F f) {
  if (out_dims.numel() == 0) return;
  const Broadcast<2> broadcast(out_dims, {&x_dims, &y_dims});
  const bool x_moves = broadcast.inner_stride(0) == 1;
  const bool y_moves = broadcast.inner_stride(1) == 1;
  broadcast.for_each_row([&](int64_t at, const std::array<int64_t, 2>& from, int64_t count) {
    const T* xs = x + from[0];
    const T* ys = y + from[1];
    if (x_moves && y_moves) return binary_run<1, 1>(xs, ys, out + at, count, f);
    if (x_moves) return binary_run<1, 0>(xs, ys, out + at, count, f);
    return binary_run<0, 1>(xs, ys, out + at, count, f);
  });
}

}  // namespace detail

/// out[i] = f(x[i]). Out is T, or what f returns.
template <typename T, typename Out, typename F>
inline void unary_loop(const T* x, Out* out, int64_t n, F f) {
  run_widest<compute_t<T>>([=] { detail::unary_run(x, out, n, f); });
}

/// out[i] = f(x[i], y[i]). Out is T, or what f returns.
template <typename T, typename Out, typename F>
inline void binary_loop(const T* x, const T* y, Out* out, int64_t n, F f) {
  run_widest<compute_t<T>>([=] { detail::binary_run<1, 1>(x, y, out, n, f); });
}

/// The same with x and y broadcast to out's dims.
template <typename T, typename Out, typename F>
inline void binary_loop(const T* x, const Dims& x_dims, const T* y, const Dims& y_dims, Out* out,
                        const Dims& out_dims, F f) {
  run_widest<compute_t<T>>([=, &x_dims, &y_dims, &out_dims] {
    detail::broadcast_run(x, x_dims, y, y_dims, out, out_dims, f);
  });
}

}  // namespace phi
