// The gradient of an embedding that is averaged over the occurrences of an id, on the CPU.
#include <algorithm>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/deferred_error.h"
#include "phi/kernels/cpu/indexing/index_positions.h"
#include "phi/kernels/cpu/indexing/slices.h"

namespace phi {
namespace {

constexpr const char* kIds = "x";
constexpr const char* kVocabulary = "the vocabulary";

/// Returns, summed over all ranks, how often each local row of the gradient occurs in the ids,
/// followed by the number of ranks that found an invalid id.
DenseTensor occurrences(const KernelContext& ctx, int64_t rows, SliceIndices places,
                        int64_t refusals, int ids_ndim) {
  DenseTensor counts = DenseTensor::empty({{rows + 1}, DataType::INT64}, ctx.place());
  auto* count = counts.mutable_data<int64_t>();
  std::fill_n(count, rows, 0);
  for (int64_t place : places) {
    if (place >= 0) ++count[place];
  }
  count[rows] = refusals;
  for (int d = 0; ctx.view() && d < ids_ndim; ++d) {
    ctx.view()->combine_over(0, d, CombineKind::kSum, &counts);
  }
  return counts;
}

}  // namespace

/// Each row gets the mean of the gradients of its occurrences on all ranks. The row `padding_idx`,
/// if not negative, gets zeros.
///
/// Errors   those of embedding, on every rank alike, because ranks wait for each other here.
template <typename T, typename Context>
void EmbeddingWithScaledGradientGradKernel(const Context& ctx, const DenseTensor& x,
                                           const DenseTensor& out_grad, int64_t padding_idx,
                                           DenseTensor* weight_grad) {
  using C = compute_t<T>;
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  const Slices slices = Slices::along(weight_grad->dims(), 0);
  std::vector<int64_t> places;
  const DeferredError deferred([&] { places = places_in(table, x, kIds, kVocabulary); });
  const DenseTensor counts = occurrences(ctx, slices.extent, places, deferred.count(), x.ndim());
  deferred.raise(counts.data<int64_t>()[slices.extent] != 0, [&] {
    throw errors::OutOfRange(
        "{} holds a value on another rank that is not in [0, {}), and {} has {} entries. That "
        "rank's error names it.",
        kIds, table.extent, kVocabulary, table.extent);
  });
  T* to = weight_grad->mutable_data<T>();
  add_slices(ctx, SumsFrom::kZero, slices, places, to, out_grad.data<T>(), to);
  for (int64_t row = 0; row < slices.extent; ++row, to += slices.inner) {
    const int64_t count = counts.data<int64_t>()[row];
    const bool is_padding = padding_idx >= 0 && row + table.begin == padding_idx;
    if (count <= 1 && !is_padding) continue;
    const C divisor = static_cast<C>(count);
    for (int64_t i = 0; i < slices.inner; ++i) {
      to[i] = is_padding ? T{} : convert_value<T>(convert_value<C>(to[i]) / divisor);
    }
  }
}

// A dry run counts the messages of the counts.
template <typename T, typename Context>
void EmbeddingWithScaledGradientGradDry(const Context& ctx, const DenseTensor& x,
                                        const DenseTensor& /*out_grad*/, int64_t /*padding_idx*/,
                                        DenseTensor* weight_grad) {
  DenseTensor counts =
      DenseTensor::empty({{weight_grad->dims()[0] + 1}, DataType::INT64}, ctx.place());
  for (int d = 0; ctx.view() && d < x.ndim(); ++d) {
    ctx.view()->combine_over(0, d, CombineKind::kSum, &counts);
  }
}

PHI_REGISTER_KERNEL(embedding_with_scaled_gradient_grad, CPU, EmbeddingWithScaledGradientGradKernel,
                    Inexact);
PHI_REGISTER_DRY_KERNEL(embedding_with_scaled_gradient_grad, EmbeddingWithScaledGradientGradDry,
                        Floats);

}  // namespace phi
