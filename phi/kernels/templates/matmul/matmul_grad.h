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

/// The matmul of a gradient: c = a b, where one of a and b is out_grad and the other one x or y.
struct GradMatmul {
  GemmOperand a;
  GemmOperand b;
  MatrixBatch c;
  bool starts_with_out_grad;

  /// The gradient of x, from out_grad and y. If x was multiplied transposed, it is transposed too.
  static GradMatmul of_x(const MatmulOperands& ops) {
    const GemmOperand g{ops.out};
    if (ops.x.transposed) return {ops.y, detail::flipped(g), ops.x.matrices, false};
    return {g, detail::flipped(ops.y), ops.x.matrices, true};
  }
  /// The gradient of y, from out_grad and x.
  static GradMatmul of_y(const MatmulOperands& ops) {
    const GemmOperand g{ops.out};
    if (ops.y.transposed) return {detail::flipped(g), ops.x, ops.y.matrices, true};
    return {detail::flipped(ops.x), g, ops.y.matrices, false};
  }
  template <typename T, typename Context>
  void run(const Context& ctx, const T* out_grad, const T* other, T* to) const {
    batched_matmul(ctx, a, starts_with_out_grad ? out_grad : other, b,
                   starts_with_out_grad ? other : out_grad, c, to);
  }
};

/// For out = op(x) op(y), the gradient of op(x) is out_grad op(y)^T and that of op(y) is op(x)^T
/// out_grad. Each is summed over the batch dims along which its tensor was broadcast. Complex
/// factors are conjugated. A null gradient is not computed.
template <typename T, typename Context>
void MatmulGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                      const DenseTensor& out_grad, bool transpose_x, bool transpose_y,
                      DenseTensor* x_grad, DenseTensor* y_grad) {
  const MatmulOperands ops(x.dims(), y.dims(), transpose_x, transpose_y);
  const T* g_data = data_of<T>(ctx, out_grad);
  if (x_grad) {
    T* to = mutable_data_of<T>(ctx, x_grad);
    const DenseTensor y_conjugated = conjugated<T>(ctx, y);
    GradMatmul::of_x(ops).run(ctx, g_data, data_of<T>(ctx, y_conjugated), to);
  }
  if (y_grad) {
    T* to = mutable_data_of<T>(ctx, y_grad);
    const DenseTensor x_conjugated = conjugated<T>(ctx, x);
    GradMatmul::of_y(ops).run(ctx, g_data, data_of<T>(ctx, x_conjugated), to);
  }
}

PHI_REGISTER_KERNEL(matmul_grad, PHI_DEVICE, MatmulGradKernel, MatmulTypes);

}  // namespace phi
