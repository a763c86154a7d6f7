// StridedWalk: a nest of loops whose number is known at run time, each with a step in kOffsets
// arrays.
//
//   StridedWalk<2> walk;
//   walk.append(rows, {row_stride, cols});              // outermost first
//   walk.for_each([&](const std::array<int64_t, 2>& at) { ... });
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// `kLoops`: how many loops may be left after merging.
template <int kOffsets, int kLoops = kMaxNdim>
class StridedWalk {
 public:
  using Offsets = std::array<int64_t, kOffsets>;

  /// Adds the next loop inwards. Loops of one turn vanish; one that goes on where its outer loop
  /// steps is merged with it.
  void append(int64_t size, const Offsets& stride) {
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
  /// Takes loop `loop` out, for the caller to run inside.
  void remove(int loop) {
    --ndim_;
    for (int d = loop; d < ndim_; ++d) {
      sizes_[d] = sizes_[d + 1];
      strides_[d] = strides_[d + 1];
    }
  }

  /// Calls f(offsets) for each turn, the last loop fastest.
  template <typename F>
  void for_each(F&& f) const {
    if (turns() == 0) return;
    std::array<int64_t, kLoops> index{};
    Offsets at{};
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
  std::array<Offsets, kLoops> strides_;
};

}  // namespace phi
