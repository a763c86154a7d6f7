// StridedWalk: a loop nest of run-time depth over kOffsets arrays, each with its own stride per
// loop.
//
//   StridedWalk<2> walk;
//   walk.append(rows, {row_stride, cols});              // outermost first
//   walk.for_each([&](const std::array<int64_t, 2>& at) { ... });
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// `kLoops`: the largest number of loops after merging.
template <int kOffsets, int kLoops = kMaxNdim>
class StridedWalk {
 public:
  using ArrayOffsets = std::array<int64_t, kOffsets>;

  /// Appends the next inner loop. A loop of size 1 is dropped. A loop is merged with its outer loop
  /// if the outer stride continues it in all arrays.
  void append(int64_t size, const ArrayOffsets& stride) {
    if (size == 1) return;
    bool merges = ndim_ > 0;
    for (int k = 0; merges && k < kOffsets; ++k) {
      merges = strides_[ndim_ - 1][k] == stride[k] * size;
    }
    if (!merges) sizes_[ndim_++] = 1;
    sizes_[ndim_ - 1] *= size;
    strides_[ndim_ - 1] = stride;
  }

  int ndim() const { return ndim_; }
  int64_t size(int loop) const { return sizes_[loop]; }
  int64_t stride(int loop, int k) const { return strides_[loop][k]; }
  int64_t turns() const {
    int64_t n = 1;
    for (int d = 0; d < ndim_; ++d) n *= sizes_[d];
    return n;
  }
  /// Removes loop `loop`, which the caller runs itself inside `for_each`.
  void remove(int loop) {
    --ndim_;
    for (int d = loop; d < ndim_; ++d) {
      sizes_[d] = sizes_[d + 1];
      strides_[d] = strides_[d + 1];
    }
  }

  /// Calls f(offsets) for each iteration, the last loop fastest.
  template <typename F>
  void for_each(F&& f) const {
    if (turns() == 0) return;
    std::array<int64_t, kLoops> index{};
    ArrayOffsets at{};
    while (true) {
      f(at);
      int d = ndim_ - 1;
      for (; d >= 0; --d) {
        for (int k = 0; k < kOffsets; ++k) at[k] += strides_[d][k];
        if (++index[d] < sizes_[d]) break;
        for (int k = 0; k < kOffsets; ++k) at[k] -= strides_[d][k] * sizes_[d];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }

 private:
  int ndim_ = 0;
  std::array<int64_t, kLoops> sizes_;
  std::array<ArrayOffsets, kLoops> strides_;
};

}  // namespace phi
