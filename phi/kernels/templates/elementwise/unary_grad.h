// Gradients of elementwise kernels of one input. x_grad may be out_grad.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/unary.h"
#include "phi/kernels/functors/elementwise/unary_grad.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {
namespace {

template <typename T, typename Context, typename F>
void unary_grad(const Context& ctx, const DenseTensor& kept, const DenseTensor& out_grad,
                DenseTensor* x_grad, F f) {
  binary_loop(ctx, kept.data<T>(), out_grad.data<T>(), x_grad->mutable_data<T>(), x_grad->numel(),
              f);
}

}  // namespace

template <typename T, typename Context>
void GeluGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                    bool approximate, DenseTensor* x_grad) {
  using C = compute_t<T>;
  if (approximate) return unary_grad<T>(ctx, x, out_grad, x_grad, GeluTanhGradFunctor<C>());
  unary_grad<T>(ctx, x, out_grad, x_grad, GeluGradFunctor<C>());
}

/// y x^(y - 1) out_grad; 0 if y is 0, for any x.
template <typename T, typename Context>
void PowGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                   const Scalar& y, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const double exponent = y.to<double>();
  if (exponent == 0.0) {  // x^-1 may be infinite
    fill(ctx, x_grad->mutable_data<T>(), x_grad->numel(), T(0));
    return;
  }
  if (exponent == 0.5) return unary_grad<T>(ctx, x, out_grad, x_grad, PowHalfGradFunctor<C>());
  if (exponent == 2.0) return unary_grad<T>(ctx, x, out_grad, x_grad, SquareGradFunctor<C>());
  if (exponent == 3.0) return unary_grad<T>(ctx, x, out_grad, x_grad, CubeGradFunctor<C>());
  unary_grad<T>(ctx, x, out_grad, x_grad, PowGradFunctor<C>{exponent});
}

PHI_UNARY_GRAD_KERNEL(sqrt_grad, SqrtGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(rsqrt_grad, RsqrtGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(square_grad, SquareGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(tanh_grad, TanhGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(sigmoid_grad, SigmoidGradFunctor, Inexact);
PHI_UNARY_GRAD_KERNEL(relu_grad, ReluGradFunctor, Floats);
PHI_REGISTER_KERNEL(gelu_grad, PHI_DEVICE, GeluGradKernel, Floats);
PHI_UNARY_GRAD_KERNEL(silu_grad, SiluGradFunctor, Floats);
PHI_REGISTER_KERNEL(pow_grad, PHI_DEVICE, PowGradKernel, Floats);

}  // namespace phi
