// Matrix transposition in tiles; squares of elements are transposed in registers.
//
//   transpose_matrix(x, /*x_stride=*/columns, out, /*out_stride=*/rows, rows, columns);
#pragma once

#include <cstdint>

#include "phi/kernels/element_width.h"

namespace phi {
namespace detail {

/// Instantiated for each element width instead of each element type.
template <typename W>
void transpose_words(const W* x, int64_t x_stride, W* out, int64_t out_stride, int64_t rows,
                     int64_t columns);

}  // namespace detail

/// Sets out[c * out_stride + r] = x[r * x_stride + c]. Elements are moved bit for bit; the arrays
/// must not overlap.
template <typename T>
void transpose_matrix(const T* x, int64_t x_stride, T* out, int64_t out_stride, int64_t rows,
                      int64_t columns) {
  using W = width_t<T>;
  detail::transpose_words(reinterpret_cast<const W*>(x), x_stride, reinterpret_cast<W*>(out),
                          out_stride, rows, columns);
}

}  // namespace phi
