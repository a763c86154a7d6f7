// Gradients of table lookups on the CPU: each row of the table gets the sum of the gradients of the
// places where it was looked up, in rising order of these; 16-bit sums are kept in float. Positions
// are sorted by row first, so that every row of the gradient is written once.
//
// Where the table is sharded along the looked-up tensor dim, a rank sums for the rows that it
// holds. Errors are those of the forward kernels.
#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/cpu/indexing/places.h"
#include "phi/kernels/cpu/indexing/slices.h"

namespace phi {
/// The row `padding_idx` gets zeros; a negative one means none.
template <typename T, typename Context>
void EmbeddingGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                         int64_t padding_idx, DenseTensor* weight_grad) {
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  const int64_t width = weight_grad->dims()[1];
  T* to = weight_grad->mutable_data<T>();
  SliceSums<T>(Slices::along(weight_grad->dims(), 0), places_in(table, x, "x", "the vocabulary"))
      .run(SumsFrom::kZero, out_grad.data<T>(), to);
  if (padding_idx >= table.begin && padding_idx < table.end) {
    std::fill_n(to + (padding_idx - table.begin) * width, width, T(0));
  }
}

template <typename T, typename Context>
void GatherGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                      const Scalar& axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const auto given = axis.to<int64_t>();
  const int at = static_cast<int>(given < 0 ? given + dims.ndim() : given);
  const LookupTable table(ctx.output_box(0, dims), at);
  SliceSums<T>(Slices::along(dims, at), places_in(table, index, "index", "x's tensor dim"))
      .run(SumsFrom::kZero, out_grad.data<T>(), x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(embedding_grad, CPU, EmbeddingGradKernel, Floats);
PHI_REGISTER_KERNEL(gather_grad, CPU, GatherGradKernel, Inexact);

}  // namespace phi
