// The gated linear unit with SiLU as its gate. N. Shazeer, "GLU Variants Improve Transformer",
// 2020.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = x * sigmoid(x) * y; without y, x's last tensor dim holds [x, y]. T in float, double,
/// bfloat16, float16.
template <typename T>
void SwiGLUKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* y,
                  DenseTensor* out);

/// With s the sigmoid of x: x_grad = out_grad y s (1 + x (1 - s)) and y_grad = out_grad x s.
/// Without y, x_grad holds both halves. A null gradient is not computed.
template <typename T>
void SwiGLUGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* y,
                      const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad);

}  // namespace phi
