// layer_norm and rms_norm.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = (x - mean) / sqrt(variance + epsilon) * scale + bias over the tensor dims from
/// `begin_norm_axis` on; variance is that of the population, taken in a second pass around the
/// mean. T in float, double, bfloat16, float16.
/// Ba, Kiros, Hinton: Layer Normalization, 2016.
template <typename T>
void LayerNormKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int begin_norm_axis, DenseTensor* out,
                     DenseTensor* mean, DenseTensor* variance);

/// invvar = 1 / sqrt(mean(x^2) + epsilon) over the last tensor dim, out = x * invvar * scale.
/// Zhang, Sennrich: Root Mean Square Layer Normalization, 2019.
template <typename T>
void RmsNormKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& scale,
                   float epsilon, DenseTensor* out, DenseTensor* invvar);

}  // namespace phi
