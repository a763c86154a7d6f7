// Gradients of elementwise kernels of one input, T in float16, bfloat16, float, double. x_grad may
// be out_grad.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

#define PHI_DECLARE_UNARY_GRAD_KERNEL_(Name, kept)                      \
  template <typename T>                                                 \
  void Name##GradKernel(const CpuContext& ctx, const DenseTensor& kept, \
                        const DenseTensor& out_grad, DenseTensor* x_grad)
PHI_DECLARE_UNARY_GRAD_KERNEL_(Sqrt, out);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Rsqrt, out);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Square, x);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Tanh, out);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Sigmoid, out);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Relu, out);
PHI_DECLARE_UNARY_GRAD_KERNEL_(Silu, x);
#undef PHI_DECLARE_UNARY_GRAD_KERNEL_

template <typename T>
void GeluGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                    bool approximate, DenseTensor* x_grad);

/// y x^(y - 1) out_grad; 0 for y = 0, whatever x is.
template <typename T>
void PowGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                   const Scalar& y, DenseTensor* x_grad);

}  // namespace phi
