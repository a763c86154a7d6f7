// Gradients of elementwise kernels of one input on the CPU. x_grad may be out_grad.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/unary.h"
#include "phi/kernels/cpu/elementwise/elementwise_loop.h"
#include "phi/kernels/functors/unary_grad.h"

namespace phi {
namespace {

template <typename T, typename F>
void unary_grad(const DenseTensor& kept, const DenseTensor& out_grad, DenseTensor* x_grad, F f) {
  binary_loop(kept.data<T>(), out_grad.data<T>(), x_grad->mutable_data<T>(), x_grad->numel(), f);
}

}  // namespace

#define PHI_DEFINE_UNARY_GRAD_KERNEL_(Name)                                                   \
  template <typename T, typename Context>                                                     \
  void Name##GradKernel(const Context&, const DenseTensor& kept, const DenseTensor& out_grad, \
                        DenseTensor* x_grad) {                                                \
    unary_grad<T>(kept, out_grad, x_grad, Name##GradFunctor<compute_t<T>>());                 \
  }
PHI_DEFINE_UNARY_GRAD_KERNEL_(Sqrt)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Rsqrt)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Square)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Tanh)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Sigmoid)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Relu)
PHI_DEFINE_UNARY_GRAD_KERNEL_(Silu)
#undef PHI_DEFINE_UNARY_GRAD_KERNEL_

template <typename T, typename Context>
void GeluGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                    bool approximate, DenseTensor* x_grad) {
  using C = compute_t<T>;
  if (approximate) return unary_grad<T>(x, out_grad, x_grad, GeluTanhGradFunctor<C>());
  unary_grad<T>(x, out_grad, x_grad, GeluGradFunctor<C>());
}

/// y x^(y - 1) out_grad; 0 for y = 0, whatever x is.
template <typename T, typename Context>
void PowGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                   const Scalar& y, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const double exponent = y.to<double>();
  if (exponent == 0.0) {  // x^-1 may be infinite
    std::fill_n(x_grad->mutable_data<T>(), x_grad->numel(), T(0));
    return;
  }
  if (exponent == 2.0) return unary_grad<T>(x, out_grad, x_grad, SquareGradFunctor<C>());
  unary_grad<T>(x, out_grad, x_grad, PowGradFunctor<C>{exponent});
}

PHI_REGISTER_KERNEL(sqrt_grad, CPU, SqrtGradKernel, Floats);
PHI_REGISTER_KERNEL(rsqrt_grad, CPU, RsqrtGradKernel, Floats);
PHI_REGISTER_KERNEL(square_grad, CPU, SquareGradKernel, Floats);
PHI_REGISTER_KERNEL(tanh_grad, CPU, TanhGradKernel, Floats);
PHI_REGISTER_KERNEL(sigmoid_grad, CPU, SigmoidGradKernel, Floats);
PHI_REGISTER_KERNEL(relu_grad, CPU, ReluGradKernel, Floats);
PHI_REGISTER_KERNEL(gelu_grad, CPU, GeluGradKernel, Floats);
PHI_REGISTER_KERNEL(silu_grad, CPU, SiluGradKernel, Floats);
PHI_REGISTER_KERNEL(pow_grad, CPU, PowGradKernel, Floats);

}  // namespace phi
