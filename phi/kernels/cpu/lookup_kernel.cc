// Table lookups on the CPU: embedding, one_hot.
//
// If the table is sharded along the looked-up tensor dim, ids whose rows are on other ranks give
// zeros, so that the sum over the ranks is the result. Ids outside the global table are errors on
// every rank.
#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/cpu/indexing/index_positions.h"
#include "phi/kernels/cpu/row_lookup.h"

namespace phi {

/// T is weight's dtype; x is int32 or int64. If `padding_idx` is not negative, its rows of out are
/// zeros.
///
/// Errors   OutOfRange with the id, its position in x and the vocabulary's size.
template <typename T, typename Context>
void EmbeddingKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& weight,
                     int64_t padding_idx, DenseTensor* out) {
  const LookupTable table(ctx.input_box(1, weight.dims()), 0);
  const int64_t width = weight.dims()[1];
  const T* rows = weight.data<T>();
  T* to = out->mutable_data<T>();
  const auto clear = [&](int64_t i) { std::fill_n(to + i * width, width, T{}); };
  const auto copy = [&](int64_t i, int64_t row) {
    if (padding_idx >= 0 && row + table.begin == padding_idx) return clear(i);
    std::copy_n(rows + row * width, width, to + i * width);
  };
  look_up(table, x, "x", "the vocabulary", copy, clear);
}

/// T is x's dtype (int32, int64); out is float32. The number of classes is the global extent of
/// out's last tensor dim.
///
/// Errors   OutOfRange with the value, its position and the number of classes.
template <typename T, typename Context>
void OneHotKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  const int last = out->ndim() - 1;
  const LookupTable table(ctx.output_box(0, out->dims()), last);
  const int64_t width = out->dims()[last];
  auto* to = out->mutable_data<float>();
  std::fill_n(to, out->numel(), 0.0f);
  look_up(
      table, x, "x", "num_classes", [&](int64_t i, int64_t row) { to[i * width + row] = 1.0f; },
      [](int64_t) {});
}

using CpuEmbeddingTypes = join_t<TypeList<int8_t>, Inexact>;

PHI_REGISTER_KERNEL(embedding, CPU, EmbeddingKernel, CpuEmbeddingTypes);
PHI_REGISTER_KERNEL(one_hot, CPU, OneHotKernel, SignedIntegers);

}  // namespace phi
