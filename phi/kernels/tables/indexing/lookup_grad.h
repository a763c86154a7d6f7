// Gradients of table lookups: each row of the table gets the sum of the gradients of the
// places where it was looked up, in rising order of these; 16-bit sums are kept in float. Positions
// are sorted by row first, so that every row of the gradient is written once.
//
// Where the table is sharded along the looked-up tensor dim, a rank sums for the rows that it
// holds. Errors are those of the forward kernels.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/lookup_table.h"
#include "phi/kernels/slices.h"

namespace phi {

/// The row `padding_idx` gets zeros; a negative one means none.
template <typename T, typename Context>
void EmbeddingGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                         int64_t padding_idx, DenseTensor* weight_grad) {
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  const int64_t width = weight_grad->dims()[1];
  T* to = weight_grad->mutable_data<T>();
  add_slices<T>(ctx, SumsFrom::kZero, Slices::along(weight_grad->dims(), 0),
                places_in(ctx, table, x, "x", "the vocabulary"), to, out_grad.data<T>(), to);
  if (padding_idx >= table.begin && padding_idx < table.end) {
    fill(ctx, to + (padding_idx - table.begin) * width, width, T(0));
  }
}

template <typename T, typename Context>
void GatherGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                      const Scalar& axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const auto given = axis.to<int64_t>();
  const int at = static_cast<int>(given < 0 ? given + dims.ndim() : given);
  const LookupTable table(ctx.output_box(0, dims), at);
  T* to = x_grad->mutable_data<T>();
  add_slices<T>(ctx, SumsFrom::kZero, Slices::along(dims, at),
                places_in(ctx, table, index, "index", "x's tensor dim"), to, out_grad.data<T>(),
                to);
}

PHI_REGISTER_KERNEL(embedding_grad, PHI_DEVICE, EmbeddingGradKernel, Floats);
PHI_REGISTER_KERNEL(gather_grad, PHI_DEVICE, GatherGradKernel, Inexact);

}  // namespace phi
