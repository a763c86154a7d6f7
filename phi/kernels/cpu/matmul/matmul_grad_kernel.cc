// Gradients of matmuls on the CPU.
#include "phi/core/device/scratch_context.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/matmul/batched_matmul.h"
#include "phi/kernels/templates/matmul/matmul_grad.h"

namespace phi {

template <typename T, typename Context>
void MatmulGradScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                       const DenseTensor& /*out_grad*/, bool transpose_x, bool transpose_y,
                       DenseTensor* x_grad, DenseTensor* y_grad) {
  const MatmulOperands ops(x.dims(), y.dims(), transpose_x, transpose_y);
  const auto plan = [&](const GradMatmul& product) {
    plan_batched_matmul<T>(product.a, product.b, product.c, &ctx.scratch());
  };
  if (x_grad) plan(GradMatmul::of_x(ops));
  if (y_grad) plan(GradMatmul::of_y(ops));
}

PHI_REGISTER_SCRATCH(matmul_grad, MatmulGradScratch, Halves);

}  // namespace phi
