// Loops of elementwise functors with one and two inputs over arrays. The output may be one of the
// inputs, element for element, but must not overlap an input in any other way.
#pragma once

#include <cstdint>

#include "phi/kernels/cpu/loops/block_rows.h"

namespace phi {

/// Sets out[i] = f(x[i]). Out is T or f's result type.
template <typename T, typename Out, typename F>
void unary_loop(const T* x, Out* out, int64_t n, F f) {
  detail::run_array<T, 1>({x}, out, n, detail::RowFunction<T, Out, 1, false>(f));
}

/// Sets out[i] = f(x[i], y[i]). Out is T or f's result type.
template <typename T, typename Out, typename F>
void binary_loop(const T* x, const T* y, Out* out, int64_t n, F f) {
  detail::run_array<T, 2>({x, y}, out, n, detail::RowFunction<T, Out, 2, false>(f));
}

/// The same for x and y that broadcast to out's dims.
template <typename T, typename Out, typename F>
void binary_loop(const T* x, const Dims& x_dims, const T* y, const Dims& y_dims, Out* out,
                 const Dims& out_dims, F f) {
  detail::run_broadcast<T, 2>({x, y}, {&x_dims, &y_dims}, out, out_dims,
                              detail::RowFunction<T, Out, 2, true>(f));
}

}  // namespace phi
