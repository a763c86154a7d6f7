// repeat_interleave_with_tensor_index and its gradient on GPUs. The host synchronises with the GPU
// for the total number of repetitions; the gradient knows it from its input's shape.
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/partition_point.h"
#include "phi/kernels/gpu/scan/prefix_sums.h"
#include "phi/kernels/indices.h"

namespace phi {
namespace {

template <typename Index>
struct IsNegative {
  PHI_HD bool operator()(Index x) const { return x < 0; }
};

[[noreturn]] void throw_negative(const DeviceAssertion& found) {
  throw errors::InvalidArgument("repeats holds {} at position {}, but it must be at least 0.",
                                found.value, found.at);
}

/// Number of repetitions of an index; a single number applies to all.
template <typename Index>
struct RepeatsOf {
  const Index* repeats;
  bool is_one;
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t times = repeats[is_one ? 0 : i];
    return times < 0 ? 0 : times;
  }
};

/// Start of each index's repetitions, and the total: [extent + 1].
DenseTensor begins_of(const GpuContext& ctx, const DenseTensor& repeats, int64_t extent) {
  DenseTensor begins;
  visit_indices(repeats, [&]<typename Index>(const Index* values) {
    if (extent > 0) {
      check_elements<Index>(ctx, repeats, IsNegative<Index>(),
                            {.argument = "repeats", .raise = throw_negative});
    }
    begins = gpu::prefix_sums(ctx, extent, RepeatsOf<Index>{values, repeats.numel() == 1});
  });
  return begins;
}

/// The index to which a repetition belongs; -1 past the last.
struct IndexOf {
  const int64_t* begins;
  int64_t extent;
  PHI_HD int64_t operator()(int64_t k) const {
    if (k >= begins[extent]) return -1;
    return gpu::partition_point(extent, [&](int64_t i) { return begins[i + 1] <= k; });
  }
};

DenseTensor sources_of(const GpuContext& ctx, const DenseTensor& begins, int64_t total) {
  DenseTensor sources = DenseTensor::empty({{total}, DataType::INT64}, ctx.place());
  index_loop(ctx, sources.mutable_data<int64_t>(), total,
             IndexOf{begins.data<int64_t>(), begins.numel() - 1});
  return sources;
}

}  // namespace

template <typename T, typename Context>
void RepeatInterleaveWithTensorIndexKernel(const Context& ctx, const DenseTensor& x,
                                           const DenseTensor& repeats, int axis,
                                           int64_t output_size, DenseTensor* out) {
  using W = width_t<T>;
  const int d = normalise_axis(axis, x.ndim(), x.dims());
  const DenseTensor begins = begins_of(ctx, repeats, x.dims()[d]);
  const int64_t total = gpu::total_of(begins);
  PHI_CHECK(
      output_size == -1 || output_size == total,
      errors::InvalidArgument("output_size is {}, but repeats add up to {}; pass that, or -1.",
                              output_size, total));
  TensorMeta meta{x.dims(), x.dtype(), out->meta().layout};
  meta.dims[d] = total;
  *out = DenseTensor::empty(meta, ctx.place());
  if (out->numel() == 0) return;
  read_slices(ctx, Slices::along(x.dims(), d), sources_of(ctx, begins, total),
              static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

template <typename T, typename Context>
void RepeatInterleaveWithTensorIndexGradKernel(const Context& ctx, const DenseTensor& repeats,
                                               const DenseTensor& out_grad, int axis,
                                               DenseTensor* x_grad) {
  const int d = normalise_axis(axis, x_grad->ndim(), x_grad->dims());
  const DenseTensor begins = begins_of(ctx, repeats, x_grad->dims()[d]);
  T* to = x_grad->mutable_data<T>();
  add_slices(ctx, SumsFrom::kZero, Slices::along(x_grad->dims(), d),
             sources_of(ctx, begins, out_grad.dims()[d]), to, out_grad.data<T>(), to);
}

PHI_REGISTER_KERNEL(repeat_interleave_with_tensor_index, GPU, RepeatInterleaveWithTensorIndexKernel,
                    EveryType);
PHI_REGISTER_KERNEL(repeat_interleave_with_tensor_index_grad, GPU,
                    RepeatInterleaveWithTensorIndexGradKernel, Inexact);

}  // namespace phi
