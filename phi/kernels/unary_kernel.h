// Elementwise kernels of one input; out may be x.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

#define PHI_DECLARE_UNARY_KERNEL_(Name) \
  template <typename T>                 \
  void Name##Kernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out)
PHI_DECLARE_UNARY_KERNEL_(Exp);
PHI_DECLARE_UNARY_KERNEL_(Log);
PHI_DECLARE_UNARY_KERNEL_(Sqrt);
PHI_DECLARE_UNARY_KERNEL_(Rsqrt);
PHI_DECLARE_UNARY_KERNEL_(Square);
PHI_DECLARE_UNARY_KERNEL_(Tanh);
PHI_DECLARE_UNARY_KERNEL_(Sigmoid);
PHI_DECLARE_UNARY_KERNEL_(Relu);
PHI_DECLARE_UNARY_KERNEL_(Silu);
#undef PHI_DECLARE_UNARY_KERNEL_

/// x Phi(x); with `approximate` its tanh form.
template <typename T>
void GeluKernel(const CpuContext& ctx, const DenseTensor& x, bool approximate, DenseTensor* out);

/// x to the power y. Errors: InvalidArgument for integers to a power that is not a whole number
/// from 0 on.
template <typename T>
void PowKernel(const CpuContext& ctx, const DenseTensor& x, const Scalar& y, DenseTensor* out);

/// x scale + bias, or (x + bias) scale; scale and bias are taken in x's dtype.
template <typename T>
void ScaleKernel(const CpuContext& ctx, const DenseTensor& x, const Scalar& scale,
                 const Scalar& bias, bool bias_after_scale, DenseTensor* out);

/// x in out's dtype; T is x's. Floats lose their fraction on the way to integers, NaN becomes 0 and
/// what lies outside int32 or int64 the nearest number that does not (uint8 goes by way of int32
/// and keeps its low bits, so -1 becomes 255). Integers keep their low bits; bool is x != 0.
template <typename T>
void CastKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

/// A copy.
template <typename T>
void AssignKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

}  // namespace phi
