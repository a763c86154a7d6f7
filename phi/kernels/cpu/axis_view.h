// AxisView: an array seen as [outer, n, inner] around one tensor dim, for kernels that work along
// that dim.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// An array as [outer, n, inner]. A line (o, i) consists of the n elements at start(o, i) + k *
/// inner. A 0-D array is one line of one element.
struct AxisView {
  int64_t outer = 1;
  int64_t n = 1;
  int64_t inner = 1;

  AxisView(const Dims& dims, int64_t axis) {
    if (dims.ndim() == 0) return;
    const int at = static_cast<int>(axis < 0 ? axis + dims.ndim() : axis);
    outer = dims.numel(0, at);
    n = dims[at];
    inner = dims.numel(at + 1, dims.ndim());
  }

  /// Returns the view of a whole array as one line.
  static AxisView flat(int64_t numel) {
    AxisView view({}, 0);
    view.n = numel;
    return view;
  }

  int64_t start(int64_t o, int64_t i) const { return o * n * inner + i; }

  /// Calls f(offset, width) for each block of at most `columns` adjacent lines.
  template <typename F>
  void for_each_block(int64_t columns, F&& f) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t begin = 0; begin < inner; begin += columns) {
        f(start(o, begin), std::min(columns, inner - begin));
      }
    }
  }
};

}  // namespace phi
