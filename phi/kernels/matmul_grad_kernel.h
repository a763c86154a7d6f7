// Gradients of matrix products.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// For out = op(x) op(y): the gradient of op(x) is out_grad op(y)^T and that of op(y) is
/// op(x)^T out_grad, each summed over the batch that its tensor was broadcast to. A null gradient
/// is not computed. T in float, double, bfloat16, float16.
template <typename T>
void MatmulGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                      const DenseTensor& out_grad, bool transpose_x, bool transpose_y,
                      DenseTensor* x_grad, DenseTensor* y_grad);

}  // namespace phi
