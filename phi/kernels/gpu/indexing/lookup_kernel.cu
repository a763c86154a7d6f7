// Table lookups on GPUs: embedding, one_hot, and the embedding gradient that is averaged per id.
// Ids of rows on other ranks produce zeros. Errors for invalid ids have the CPU's messages.
#include "phi/common/inexact.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/index_positions.h"
#include "phi/kernels/gpu/indexing/slices.h"

namespace phi {
namespace {

/// Excludes one row: its places become negative.
struct WithoutRow {
  int64_t row;
  PHI_HD int64_t operator()(int64_t place) const { return place == row ? -1 : place; }
};

/// Element i of [places, width] is 1 in the column of its row's place, else 0.
struct OneHotFunctor {
  const int64_t* places;
  int64_t width;
  PHI_HD float operator()(int64_t i) const {
    const int64_t row = i / width;
    return places[row] == i - row * width ? 1.0f : 0.0f;
  }
};

struct CountOfSlice {
  const int64_t* begins;
  PHI_HD int64_t operator()(int64_t slice) const { return begins[slice + 1] - begins[slice]; }
};

/// Element i divided by its row's count; zero in the padding row.
template <typename T>
struct MeanOfRow {
  const T* sums;
  const int64_t* counts;
  int64_t width;
  int64_t padding_row;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t row = i / width;
    if (row == padding_row) return T(0.0f);
    const int64_t count = counts[row];
    return count <= 1 ? sums[i] : static_cast<T>(static_cast<C>(sums[i]) / static_cast<C>(count));
  }
};

}  // namespace

/// T is the dtype of `weight`; x is int32 or int64. A negative `padding_idx` means none.
template <typename T, typename Context>
void EmbeddingKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& weight,
                     int64_t padding_idx, DenseTensor* out) {
  const LookupTable table(ctx.input_box(1, weight.dims()), 0);
  DenseTensor places = places_in(ctx, table, x, "x", "the vocabulary");
  if (padding_idx >= table.begin && padding_idx < table.end) {
    auto* own = places.mutable_data<int64_t>();
    unary_loop(ctx, own, own, places.numel(), WithoutRow{padding_idx - table.begin});
  }
  using W = width_t<T>;
  read_slices(ctx, Slices::along(weight.dims(), 0), places,
              static_cast<const W*>(weight.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

/// A row's gradient is the mean of the gradients of its occurrences on all ranks. The row
/// `padding_idx` is zero; a negative `padding_idx` means none.
template <typename T, typename Context>
void EmbeddingWithScaledGradientGradKernel(const Context& ctx, const DenseTensor& x,
                                           const DenseTensor& out_grad, int64_t padding_idx,
                                           DenseTensor* weight_grad) {
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  const Slices slices = Slices::along(weight_grad->dims(), 0);
  const DenseTensor places = places_in(ctx, table, x, "x", "the vocabulary");
  const auto named = gpu::positions_by_slice(ctx, places, slices.extent);
  T* to = weight_grad->mutable_data<T>();
  gpu::add_positions<T>(ctx, SumsFrom::kZero, slices, named, places.numel(), to, out_grad.data<T>(),
                        to);
  // The last element has the number of ranks that reject an id (cpu/indexing/embedding_kernel.cc).
  // On a GPU the error is thrown by the wait of the rank that rejects it and does not block other
  // ranks.
  DenseTensor counts = DenseTensor::empty({{slices.extent + 1}, DataType::INT64}, ctx.place());
  fill(ctx, counts.mutable_data<int64_t>() + slices.extent, 1, int64_t{0});
  index_loop(ctx, counts.mutable_data<int64_t>(), slices.extent, CountOfSlice{named.first()});
  for (int d = 0; ctx.view() && d < x.ndim(); ++d) {
    ctx.view()->combine_over(0, d, CombineKind::kSum, &counts);
  }
  const int64_t padding_row = padding_idx < 0 ? -1 : padding_idx - table.begin;
  index_loop(ctx, to, weight_grad->numel(),
             MeanOfRow<T>{to, counts.data<int64_t>(), slices.inner, padding_row});
}

/// T is the dtype of x; out is float32. The number of classes is the global extent of out's last
/// tensor dim.
template <typename T, typename Context>
void OneHotKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  const int last = out->ndim() - 1;
  const LookupTable table(ctx.output_box(0, out->dims()), last);
  const DenseTensor places = places_in(ctx, table, x, "x", "num_classes");
  if (out->numel() == 0) return;
  index_loop(ctx, out->mutable_data<float>(), out->numel(),
             OneHotFunctor{places.data<int64_t>(), out->dims()[last]});
}

using GpuEmbeddingTypes = join_t<TypeList<int8_t>, Inexact>;

PHI_REGISTER_KERNEL(embedding, GPU, EmbeddingKernel, GpuEmbeddingTypes);
PHI_REGISTER_KERNEL(embedding_with_scaled_gradient_grad, GPU, EmbeddingWithScaledGradientGradKernel,
                    Inexact);
PHI_REGISTER_KERNEL(one_hot, GPU, OneHotKernel, SignedIntegers);

}  // namespace phi
