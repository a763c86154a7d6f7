// The strides of broadcast operands for each tensor dim of an output, shared by all devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// Calls f(size, strides of the operands) for each tensor dim of `out` whose size is not 1,
/// innermost first. The stride of an operand that is broadcast along the dim is 0.
template <size_t kOperands, typename F>
void for_each_broadcast_dim(const Dims& out, const std::array<const Dims*, kOperands>& operands,
                            F&& f) {
  std::array<int64_t, kOperands> extent_so_far;
  extent_so_far.fill(1);
  for (int d = out.ndim() - 1; d >= 0; --d) {
    if (out[d] == 1) continue;
    std::array<int64_t, kOperands> stride;
    for (size_t k = 0; k < kOperands; ++k) {
      const Dims& dims = *operands[k];
      const int own = d - (out.ndim() - dims.ndim());
      const bool moves = own >= 0 && dims[own] != 1;
      stride[k] = moves ? extent_so_far[k] : 0;
      if (moves) extent_so_far[k] *= dims[own];
    }
    f(out[d], stride);
  }
}

}  // namespace phi
