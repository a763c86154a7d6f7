// The matmul kernel.
#pragma once

#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/templates/matmul/operands.h"

namespace phi {

/// out = x @ y (MatmulInferMeta). Half-precision sums are kept in float and rounded once. An inner
/// extent of 0 gives zeros.
template <typename T, typename Context>
void MatmulKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
                  bool transpose_y, DenseTensor* out) {
  const MatmulOperands in(x.dims(), y.dims(), transpose_x, transpose_y);
  batched_matmul(ctx, in.x, data_of<T>(ctx, x), in.y, data_of<T>(ctx, y), in.out,
                 mutable_data_of<T>(ctx, out));
}

PHI_REGISTER_KERNEL(matmul, PHI_DEVICE, MatmulKernel, MatmulTypes);

}  // namespace phi
