// Gradients of table lookups: each row of the table gets the sum of the gradients of the places
// where it was looked up, in rising order of these; 16-bit sums are kept in float. Where the table
// is sharded along the looked-up tensor dim, a rank sums for the rows that it holds. T in float,
// double, bfloat16, float16. Errors are those of the forward kernels.
#pragma once

#include <cstdint>

#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// The row `padding_idx` gets zeros; a negative one means none.
template <typename T>
void EmbeddingGradKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                         int64_t padding_idx, DenseTensor* weight_grad);

template <typename T>
void GatherGradKernel(const CpuContext& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                      const Scalar& axis, DenseTensor* x_grad);

}  // namespace phi
