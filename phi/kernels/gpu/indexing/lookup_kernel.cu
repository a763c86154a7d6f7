// Table lookups on GPUs: embedding, c_embedding, gather, one_hot. Ids that this rank does not hold
// give zeros; what is said of ids that there are not, is what the CPU says.
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/indexing/places.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/words.h"

namespace phi {
namespace {

/// Places of another row than one, which counts as elsewhere.
struct WithoutRow {
  int64_t row;
  PHI_HD int64_t operator()(int64_t place) const { return place == row ? -1 : place; }
};

/// Element i of [places, width] is 1 in the column that its row's place names.
struct OneHotFunctor {
  const int64_t* places;
  int64_t width;
  PHI_HD float operator()(int64_t i) const {
    const int64_t row = i / width;
    return places[row] == i - row * width ? 1.0f : 0.0f;
  }
};

}  // namespace

/// T is weight's dtype; x is int32 or int64. A negative `padding_idx` means none.
template <typename T, typename Context>
void EmbeddingKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& weight,
                     int64_t padding_idx, DenseTensor* out) {
  const LookupTable table(ctx.input_box(1, weight.dims()), 0);
  DenseTensor places = places_in(ctx, table, x, "x", "the vocabulary");
  if (padding_idx >= table.begin && padding_idx < table.end) {
    auto* own = places.mutable_data<int64_t>();
    unary_loop(ctx, own, own, places.numel(), WithoutRow{padding_idx - table.begin});
  }
  read_slices(ctx, Slices::along(weight.dims(), 0), places, weight.data<T>(),
              out->mutable_data<T>());
}

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

template <typename T, typename Context>
void GatherKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& index,
                  const Scalar& axis, DenseTensor* out) {
  using W = width_t<T>;
  const int64_t given = axis.to<int64_t>();
  const int at = static_cast<int>(given < 0 ? given + x.ndim() : given);
  const LookupTable table(ctx.input_box(0, x.dims()), at);
  read_slices(ctx, Slices::along(x.dims(), at),
              places_in(ctx, table, index, "index", "x's tensor dim"),
              static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

/// T is x's dtype, out is float32. The number of classes is the global extent of out's last tensor
/// dim.
template <typename T, typename Context>
void OneHotKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  const int last = out->ndim() - 1;
  const LookupTable table(ctx.output_box(0, out->dims()), last);
  const DenseTensor places = places_in(ctx, table, x, "x", "num_classes");
  if (out->numel() == 0) return;
  index_loop(ctx, out->mutable_data<float>(), out->numel(),
             OneHotFunctor{places.data<int64_t>(), out->dims()[last]});
}

PHI_REGISTER_KERNEL(embedding, GPU, EmbeddingKernel, Floats);
PHI_REGISTER_KERNEL(c_embedding, GPU, CEmbeddingKernel, Floats);
PHI_REGISTER_KERNEL(c_embedding_grad, GPU, CEmbeddingGradKernel, Floats);
PHI_REGISTER_KERNEL(gather, GPU, GatherKernel, EveryType);
PHI_REGISTER_KERNEL(one_hot, GPU, OneHotKernel, SignedIntegers);

}  // namespace phi
