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

}  // namespace phi
