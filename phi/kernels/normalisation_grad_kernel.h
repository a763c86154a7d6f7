// Gradients of layer_norm and rms_norm.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// With y = (x - mean) * f, f = 1 / sqrt(variance + epsilon), g = out_grad * scale and averages
/// <.> over a row:
///   | x_grad = f * (g - <g> - y * <g * y>),  scale_grad = sum over rows of out_grad * y,
///   | bias_grad = sum over rows of out_grad.
/// Each output may be null: it is not wanted. scale_grad and bias_grad have scale's and bias's
/// dtypes and are summed in float (double for double); where rows are sharded they are partial
/// sums. T in float, double, bfloat16, float16.
template <typename T>
void LayerNormGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& out_grad, float epsilon, int begin_norm_axis,
                         DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad);

/// With y = x * invvar: x_grad = invvar * (g - y * <g * y>), scale_grad as above.
template <typename T>
void RmsNormGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& scale,
                       const DenseTensor& invvar, const DenseTensor& out_grad, DenseTensor* x_grad,
                       DenseTensor* scale_grad);

}  // namespace phi
