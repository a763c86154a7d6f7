// Lookups of table rows, and their gradients, which add to rows.
//
// The table may be sharded along the looked-up tensor dim. Ids of other ranks' rows give zeros, so
// the results of all ranks sum to the full result; a rank sums the gradients of its own rows. Ids
// outside the global table are errors on every rank alike.
//
// Each row of a gradient is the sum over the positions that read it, in ascending order. Half
// precision is summed in float. Positions are sorted by row first, so that each row is written
// once.
#pragma once

#include "phi/common/inexact.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/lookup_table.h"
#include "phi/kernels/slices.h"

namespace phi {

/// For any T. Errors: OutOfRange with the index, its position and the extent.
template <typename T, typename Context>
void GatherKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                  const Scalar& axis, DenseTensor* out) {
  using W = width_t<T>;
  const auto given = axis.to<int64_t>();
  const int at = static_cast<int>(given < 0 ? given + x.ndim() : given);
  const LookupTable table(ctx.input_box(0, x.dims()), at, FromEnd::kYes);
  read_slices(ctx, Slices::along(x.dims(), at),
              places_in(ctx, table, index, "index", "x's tensor dim"),
              static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

/// Looks up in a table whose first row has id start_index. Ids outside of it give zeros.
template <typename T, typename Context>
void CEmbeddingKernel(const Context& ctx, const DenseTensor& weight, const DenseTensor& x,
                      int64_t start_index, DenseTensor* out) {
  const LookupTable table(ctx.input_box(0, weight.dims()), 0);
  read_slices(ctx, Slices::along(weight.dims(), 0), rows_from(ctx, start_index, table, x),
              weight.data<T>(), out->mutable_data<T>());
}

template <typename T, typename Context>
void CEmbeddingGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                          int64_t start_index, DenseTensor* weight_grad) {
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  T* to = weight_grad->mutable_data<T>();
  add_slices(ctx, SumsFrom::kZero, Slices::along(weight_grad->dims(), 0),
             rows_from(ctx, start_index, table, x), to, out_grad.data<T>(), to);
}

/// The row `padding_idx` is set to zeros; a negative padding_idx means none.
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
  const LookupTable table(ctx.output_box(0, dims), at, FromEnd::kYes);
  T* to = x_grad->mutable_data<T>();
  add_slices<T>(ctx, SumsFrom::kZero, Slices::along(dims, at),
                places_in(ctx, table, index, "index", "x's tensor dim"), to, out_grad.data<T>(),
                to);
}

PHI_REGISTER_KERNEL(gather, PHI_DEVICE, GatherKernel, EveryType);
PHI_REGISTER_KERNEL(c_embedding, PHI_DEVICE, CEmbeddingKernel, Floats);
PHI_REGISTER_KERNEL(c_embedding_grad, PHI_DEVICE, CEmbeddingGradKernel, Floats);
PHI_REGISTER_KERNEL(embedding_grad, PHI_DEVICE, EmbeddingGradKernel, Inexact);
PHI_REGISTER_KERNEL(gather_grad, PHI_DEVICE, GatherGradKernel, Inexact);

}  // namespace phi
