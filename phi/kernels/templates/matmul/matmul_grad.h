// Gradients of matmul, which are matmuls too. For x [batch, m, k] and y [k, n] each is one GEMM
// over all rows of the batch.
#pragma once

#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/templates/matmul/operands.h"

namespace phi {
namespace detail {

inline GemmOperand flipped(GemmOperand operand) {
  operand.transposed = !operand.transposed;
  return operand;
}

}  // namespace detail

/// For out = op(x) op(y), the gradient of op(x) is out_grad op(y)^T and that of op(y) is op(x)^T
/// out_grad. Each is summed over the batch dims along which its tensor was broadcast. Complex
/// factors are conjugated. A null gradient is not computed.
template <typename T, typename Context>
void MatmulGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                      const DenseTensor& out_grad, bool transpose_x, bool transpose_y,
                      DenseTensor* x_grad, DenseTensor* y_grad) {
  const MatmulOperands ops(x.dims(), y.dims(), transpose_x, transpose_y);
  const GemmOperand g{ops.out};
  const T* g_data = out_grad.data<T>();
  if (x_grad) {
    T* to = x_grad->mutable_data<T>();
    const DenseTensor y_conjugated = conjugated<T>(ctx, y);
    const T* y_data = y_conjugated.template data<T>();
    if (ops.x.transposed) {  // x was multiplied transposed
      batched_matmul(ctx, ops.y, y_data, detail::flipped(g), g_data, ops.x.matrices, to);
    } else {
      batched_matmul(ctx, g, g_data, detail::flipped(ops.y), y_data, ops.x.matrices, to);
    }
  }
  if (y_grad) {
    T* to = y_grad->mutable_data<T>();
    const DenseTensor x_conjugated = conjugated<T>(ctx, x);
    const T* x_data = x_conjugated.template data<T>();
    if (ops.y.transposed) {
      batched_matmul(ctx, detail::flipped(g), g_data, ops.x, x_data, ops.y.matrices, to);
    } else {
      batched_matmul(ctx, detail::flipped(ops.x), x_data, g, g_data, ops.y.matrices, to);
    }
  }
}

PHI_REGISTER_KERNEL(matmul_grad, PHI_DEVICE, MatmulGradKernel, MatmulTypes);

}  // namespace phi
