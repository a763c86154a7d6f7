// Matrix products.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = x @ y as MatmulInferMeta says, T in float, double, bfloat16, float16. Sums of 16-bit
/// arguments are kept in float and rounded once. An inner extent of 0 gives zeros.
template <typename T>
void MatmulKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                  bool transpose_x, bool transpose_y, DenseTensor* out);

}  // namespace phi
