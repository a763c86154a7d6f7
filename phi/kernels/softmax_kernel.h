// softmax and its gradient.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = exp(x - max) / sum(exp(x - max)) along `axis`, T in float, double, bfloat16, float16.
template <typename T>
void SoftmaxKernel(const CpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out);

/// x_grad = out * (out_grad - sum(out * out_grad)) along `axis`, T as above. x_grad may be
/// out_grad.
template <typename T>
void SoftmaxGradKernel(const CpuContext& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                       int axis, DenseTensor* x_grad);

}  // namespace phi
