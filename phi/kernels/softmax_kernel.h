// softmax.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = exp(x - max) / sum(exp(x - max)) along `axis`, T in float, double, bfloat16, float16.
template <typename T>
void SoftmaxKernel(const CpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out);

}  // namespace phi
