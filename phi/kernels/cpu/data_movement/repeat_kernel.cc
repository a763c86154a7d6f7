// repeat_interleave_with_tensor_index on the CPU: repeats each index of an axis as often as a
// tensor states.
#include <numeric>

#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/data_movement/move.h"

namespace phi {
namespace {

/// Returns a count for each of `extent` indices. A single element of repeats counts for all.
///
/// Errors   InvalidArgument for a negative count.
std::vector<int64_t> counts_of(const DenseTensor& repeats, int64_t extent) {
  std::vector<int64_t> counts(static_cast<size_t>(extent));
  const auto read = [&]<typename I>(const I* values) {
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] = values[repeats.numel() == 1 ? 0 : i];
      PHI_CHECK(counts[i] >= 0,
                errors::InvalidArgument("repeats holds {} at position {}, but it must be at least "
                                        "0.",
                                        counts[i], i));
    }
  };
  if (repeats.dtype() == DataType::INT32) {
    read(repeats.data<int32_t>());
  } else {
    read(repeats.data<int64_t>());
  }
  return counts;
}

/// Returns the pieces that repeat the indices of `axis`, which has `total` indices afterwards.
Pieces repeated(const Dims& x, int axis, std::span<const int64_t> counts, int64_t total) {
  std::vector<IndexRun> runs;
  int64_t to = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) runs.push_back({to, static_cast<int64_t>(i), counts[i], 0});
    to += counts[i];
  }
  const int64_t inner = x.numel(axis + 1, x.ndim());
  Pieces pieces;
  pieces.append(x.numel(0, axis), {total * inner, x[axis] * inner});
  pieces.append(std::move(runs), {inner, inner});
  pieces.append(inner, {1, 1});
  return pieces;
}

}  // namespace

/// out is passed without storage.
///
/// Errors   InvalidArgument for negative repeats, and if output_size is neither -1 nor their sum.
template <typename T, typename Context>
void RepeatInterleaveWithTensorIndexKernel(const Context& ctx, const DenseTensor& x,
                                           const DenseTensor& repeats, int axis,
                                           int64_t output_size, DenseTensor* out) {
  const int d = normalise_axis(axis, x.ndim(), x.dims());
  const std::vector<int64_t> counts = counts_of(repeats, x.dims()[d]);
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  PHI_CHECK(
      output_size == -1 || output_size == total,
      errors::InvalidArgument("output_size is {}, but repeats add up to {}; pass that, or -1.",
                              output_size, total));
  TensorMeta meta{x.dims(), x.dtype(), out->meta().layout};
  meta.dims[d] = total;
  *out = DenseTensor::empty(meta, x.place());
  copy_pieces<T>(ctx, repeated(x.dims(), d, counts, total), x, out);
}

template <typename T, typename Context>
void RepeatInterleaveWithTensorIndexGradKernel(const Context& ctx, const DenseTensor& repeats,
                                               const DenseTensor& out_grad, int axis,
                                               DenseTensor* x_grad) {
  const int d = normalise_axis(axis, x_grad->ndim(), x_grad->dims());
  const std::vector<int64_t> counts = counts_of(repeats, x_grad->dims()[d]);
  sum_pieces_back<T>(ctx, repeated(x_grad->dims(), d, counts, out_grad.dims()[d]), out_grad,
                     x_grad);
}

PHI_REGISTER_KERNEL(repeat_interleave_with_tensor_index, CPU, RepeatInterleaveWithTensorIndexKernel,
                    EveryType);
PHI_REGISTER_KERNEL(repeat_interleave_with_tensor_index_grad, CPU,
                    RepeatInterleaveWithTensorIndexGradKernel, Inexact);

}  // namespace phi
