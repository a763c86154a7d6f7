// Walk: offsets of element i of a row-major index space of up to kLoops dims in kOperands strided
// arrays.
//
//   walk.append(columns, {1, 1});        // on the host, innermost first
//   walk.append(rows, {columns, 0});
//   const auto at = walk.offsets(i).at;  // in a kernel, which takes the walk by value
#pragma once

#include <array>
#include <cstdint>

#include "phi/common/dims.h"
#include "phi/common/host_device.h"
#include "phi/gpu/divider.h"

namespace phi::gpu {

template <int kOperands>
struct WalkOffsets {
  int64_t at[kOperands];
};

template <int kOperands, int kLoops = kMaxNdim>
class Walk {
 public:
  int ndim = 0;  // innermost first; 0: one element
  int64_t strides[kOperands][kLoops];

  PHI_HD int64_t size(int d) const { return sizes_[d].by(); }

  /// Adds the next outer dim. If its strides continue those of the last dim for all operands, the
  /// two are merged into one dim.
  void append(int64_t size, const std::array<int64_t, kOperands>& stride) {
    bool merges = ndim > 0;
    for (int k = 0; merges && k < kOperands; ++k) {
      merges = stride[k] == strides[k][ndim - 1] * sizes_[ndim - 1].by();
    }
    if (merges) {
      sizes_[ndim - 1] = Divider(sizes_[ndim - 1].by() * size);
      return;
    }
    sizes_[ndim] = Divider(size);
    for (int k = 0; k < kOperands; ++k) strides[k][ndim] = stride[k];
    ++ndim;
  }

  /// Treats `width` adjacent elements of the innermost dim as one. `width` must divide its size.
  /// Strides do not change.
  void group(int64_t width) { sizes_[0] = Divider(sizes_[0].by() / width); }

  /// Offset of element i in each operand. The loop is not unrolled, to keep the code of the many
  /// kernels that use it small; most walks have two or three dims.
  PHI_HD WalkOffsets<kOperands> offsets(int64_t i) const {
    WalkOffsets<kOperands> result{};
    PHI_UNROLL(1)
    for (int d = 0; d < ndim; ++d) {
      const int64_t outer = d + 1 < ndim ? sizes_[d].quotient(i) : 0;
      const int64_t index = i - outer * sizes_[d].by();
      for (int k = 0; k < kOperands; ++k) result.at[k] += index * strides[k][d];
      i = outer;
    }
    return result;
  }

 private:
  Divider sizes_[kLoops];
};

}  // namespace phi::gpu
