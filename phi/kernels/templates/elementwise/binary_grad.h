// Gradients of elementwise kernels of two inputs. A null gradient is not computed.
#pragma once

#include "phi/generated/kernels/binary.h"
#include "phi/kernels/functors/elementwise/binary_grad.h"
#include "phi/kernels/functors/incomplete_gamma.h"
#include "phi/kernels/templates/elementwise/broadcast_gradients.h"

namespace phi {

#define PHI_DEFINE_BINARY_GRAD_KERNEL_(Name)                                                     \
  template <typename T, typename Context>                                                        \
  void Name##GradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,          \
                        const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) { \
    binary_grad<T>(ctx, x, y, out_grad, x_grad, y_grad, Name##GradFunctor<compute_t<T>>());      \
  }
PHI_DEFINE_BINARY_GRAD_KERNEL_(Minimum)
PHI_DEFINE_BINARY_GRAD_KERNEL_(FMax)
PHI_DEFINE_BINARY_GRAD_KERNEL_(FMin)
PHI_DEFINE_BINARY_GRAD_KERNEL_(ElementwisePow)
PHI_DEFINE_BINARY_GRAD_KERNEL_(Remainder)
PHI_DEFINE_BINARY_GRAD_KERNEL_(CopySign)
PHI_DEFINE_BINARY_GRAD_KERNEL_(Heaviside)
#undef PHI_DEFINE_BINARY_GRAD_KERNEL_

template <typename T, typename Context>
void Atan2GradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) {
  even_binary_grad<T>(ctx, x, y, out_grad, x_grad, y_grad, Atan2GradFunctor<compute_t<T>>());
}

/// The gradient of y only: the derivative by x has no closed form.
template <typename T, typename Context>
void GammaInccGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                         const DenseTensor& out_grad, DenseTensor* y_grad) {
  even_loop<T>(ctx, {&x, &y, &out_grad}, y_grad, GammaInccGradFunctor<compute_t<T>>());
}

PHI_REGISTER_KERNEL(minimum_grad, PHI_DEVICE, MinimumGradKernel, Floats);
PHI_REGISTER_KERNEL(fmax_grad, PHI_DEVICE, FMaxGradKernel, Floats);
PHI_REGISTER_KERNEL(fmin_grad, PHI_DEVICE, FMinGradKernel, Floats);
PHI_REGISTER_KERNEL(elementwise_pow_grad, PHI_DEVICE, ElementwisePowGradKernel, Floats);
PHI_REGISTER_KERNEL(remainder_grad, PHI_DEVICE, RemainderGradKernel, Floats);
PHI_REGISTER_KERNEL(atan2_grad, PHI_DEVICE, Atan2GradKernel, Floats);
PHI_REGISTER_KERNEL(copysign_grad, PHI_DEVICE, CopySignGradKernel, Floats);
PHI_REGISTER_KERNEL(heaviside_grad, PHI_DEVICE, HeavisideGradKernel, Floats);
PHI_REGISTER_KERNEL(gammaincc_grad, PHI_DEVICE, GammaInccGradKernel, Floats);

}  // namespace phi
