// accuracy on GPUs: the share of correct predictions.
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/functors/choice_errors.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Whether a row of indices contains its label.
template <typename Id>
struct IsHit {
  const Id* indices;
  const Id* labels;
  int64_t width;
  PHI_HD int32_t operator()(int64_t row) const {
    for (int64_t k = 0; k < width; ++k) {
      if (indices[row * width + k] == labels[row]) return 1;
    }
    return 0;
  }
};

struct HitFraction {
  float divisor;
  PHI_HD float operator()(int32_t found) const {
    return divisor == 0 ? 0.0f : static_cast<float>(found) / divisor;
  }
};

template <typename Id>
void find_hits(const GpuContext& ctx, const DenseTensor& indices, const DenseTensor& label,
               DenseTensor* hits) {
  check_elements<Id>(ctx, label, IsBelow{0}, {.raise = throw_invalid_label});
  index_loop(ctx, hits->mutable_data<int32_t>(), hits->numel(),
             IsHit<Id>{indices.data<Id>(), label.data<Id>(), indices.dims()[1]});
}

}  // namespace

template <typename T, typename Context>
void AccuracyKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& indices,
                    const DenseTensor& label, DenseTensor* accuracy, DenseTensor* correct,
                    DenseTensor* total) {
  const int64_t rows = ctx.input_box(0, x.dims()).global[0];
  DenseTensor hits = DenseTensor::empty({{label.numel()}, DataType::INT32}, ctx.place());
  if (indices.dtype() == DataType::INT32) {
    find_hits<int32_t>(ctx, indices, label, &hits);
  } else {
    find_hits<int64_t>(ctx, indices, label, &hits);
  }
  auto* found = correct->mutable_data<int32_t>();
  reduce_all<SumReducer<int32_t>>(ctx, hits.data<int32_t>(), hits.numel(), found);
  unary_loop(ctx, found, accuracy->mutable_data<float>(), 1, HitFraction{static_cast<float>(rows)});
  fill(ctx, total->mutable_data<int32_t>(), 1, static_cast<int32_t>(x.dims()[0]));
}

PHI_REGISTER_KERNEL(accuracy, GPU, AccuracyKernel, Floats);

}  // namespace phi
