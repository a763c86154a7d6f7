// Kernels that write into a strided slice, set_value and set_value_with_tensor, with the gradient
// of the latter; and `set`, which views a storage under other strides. All describe their moves as
// pieces (kernels/pieces.h).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/set_value.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// The elements of a global slice in a local shard: elements first .. first + count - 1 of the
/// slice, of which the first is at local index `at`.
struct LocalSteps {
  int64_t at;
  int64_t first;
  int64_t count;
};
inline LocalSteps local_steps(const SteppedBounds& slice, int64_t offset, int64_t size) {
  // The number in the slice of the first element at or after `place`, in the direction of the step.
  const auto number = [&](int64_t place) {
    const int64_t distance = slice.step > 0 ? place - slice.begin : slice.begin - place;
    const int64_t length = slice.step > 0 ? slice.step : -slice.step;
    return distance <= 0 ? 0 : std::min((distance - 1) / length + 1, slice.count);
  };
  const bool rises = slice.step > 0;
  const int64_t first = number(rises ? offset : offset + size - 1);
  const int64_t end = number(rises ? offset + size : offset - 1);
  return {slice.begin + first * slice.step - offset, first, end - first};
}

/// The stride of values per tensor dim of x; 0 where values are broadcast.
inline Dims steps_of_values(const SliceDims& slice, const Dims& values, int ndim) {
  const Dims strides = values.strides();
  Dims steps = Dims::filled(ndim, 0);
  for (int d = 0; d < values.ndim(); ++d) {
    const int own = d + static_cast<int>(slice.size()) - values.ndim();
    if (own < 0 || values[d] == 1) continue;
    const int from = slice[static_cast<size_t>(own)];
    if (from >= 0) steps[from] = strides[d];
  }
  return steps;
}

/// The arguments that define a slice.
struct SteppedSlice {
  const IntArray& starts;
  const IntArray& ends;
  const IntArray& steps;
  const std::vector<int64_t>& axes;
  SliceDims dims;
};

/// Moves values, of dims `values`, to the slice of the local array at `here`. Values are unsharded
/// along the sliced dims. Along other dims they are the array's shard, or also unsharded if
/// `values_are_whole`.
inline Pieces slice_and_values(const ShardBox& here, const SteppedSlice& slice, const Dims& values,
                               bool values_are_whole) {
  const Dims& dims = here.box.size;
  const Dims strides = dims.strides();
  const Dims value_steps = steps_of_values(slice.dims, values, dims.ndim());
  std::vector<IndexRun> runs;
  for (int d = 0; d < dims.ndim(); ++d) {
    runs.push_back({0, values_are_whole ? here.box.offset[d] : 0, dims[d], 1});
  }
  Dims jumps = Dims::filled(dims.ndim(), 1);
  int64_t first = 0;
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    const int d = normalise_axis(slice.axes[i], dims.ndim(), dims, "axes");
    const auto n = static_cast<int>(i);
    const SteppedBounds bounds =
        stepped_bounds(slice.starts[n], slice.ends[n], slice.steps[n], here.global[d]);
    const LocalSteps local = local_steps(bounds, here.box.offset[d], dims[d]);
    runs[static_cast<size_t>(d)] = {0, local.first, local.count, 1};
    jumps[d] = bounds.step;
    first += local.count > 0 ? local.at * strides[d] : 0;
  }
  Pieces pieces({first, 0});
  for (int d = 0; d < dims.ndim(); ++d) {
    pieces.append({runs[static_cast<size_t>(d)]}, {jumps[d] * strides[d], value_steps[d]});
  }
  return pieces;
}

/// The same destinations, all from one element.
inline Pieces from_one(const Pieces& pieces) {
  Pieces still({pieces.first().to, 0});
  for (const Pieces::StridedLoop& loop : pieces.loops()) {
    still.append(loop.runs, {loop.strides.to, 0});
  }
  return still;
}

}  // namespace

/// `values` has the dims `shape`, or one element for all. out may be x.
template <typename T, typename Context>
void SetValueKernel(const Context& ctx, const DenseTensor& x, const IntArray& starts,
                    const IntArray& ends, const IntArray& steps, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& decrease_axes,
                    const std::vector<int64_t>& none_axes, const std::vector<int64_t>& shape,
                    const std::vector<Scalar>& values, DenseTensor* out) {
  keep(ctx, x, out);
  const auto own = std::make_unique<T[]>(values.size());
  for (size_t i = 0; i < values.size(); ++i) own[i] = values[i].to<T>();
  const SteppedSlice slice{starts, ends, steps, axes,
                           slice_dims(x.ndim(), decrease_axes, none_axes)};
  const Pieces pieces =
      slice_and_values(ctx.output_box(0, out->dims()), slice,
                       values.size() == 1 ? Dims{} : Dims(shape), /*values_are_whole=*/true);
  copy_pieces<T>(ctx, pieces, array_from_host(ctx, own.get(), values.size()), out);
}

/// The slice refers to the *global* tensor. out may be x.
template <typename T, typename Context>
void SetValueWithTensorKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& values,
                              const IntArray& starts, const IntArray& ends, const IntArray& steps,
                              const std::vector<int64_t>& axes,
                              const std::vector<int64_t>& decrease_axes,
                              const std::vector<int64_t>& none_axes, DenseTensor* out) {
  keep(ctx, x, out);
  const SteppedSlice slice{starts, ends, steps, axes,
                           slice_dims(x.ndim(), decrease_axes, none_axes)};
  copy_pieces<T>(ctx,
                 slice_and_values(ctx.output_box(0, out->dims()), slice, values.dims(),
                                  /*values_are_whole=*/false),
                 values, out);
}

/// x_grad is out_grad with zeros in the slice. values_grad is out_grad's slice, summed over the
/// dims along which values were broadcast.
template <typename T, typename Context>
void SetValueWithTensorGradKernel(const Context& ctx, const DenseTensor& out_grad,
                                  const IntArray& starts, const IntArray& ends,
                                  const IntArray& steps, const std::vector<int64_t>& axes,
                                  const std::vector<int64_t>& decrease_axes,
                                  const std::vector<int64_t>& none_axes, DenseTensor* x_grad,
                                  DenseTensor* values_grad) {
  const SteppedSlice slice{starts, ends, steps, axes,
                           slice_dims(out_grad.ndim(), decrease_axes, none_axes)};
  const Pieces pieces = slice_and_values(ctx.input_box(1, out_grad.dims()), slice,
                                         values_grad ? values_grad->dims() : Dims{},
                                         /*values_are_whole=*/false);
  if (x_grad) {
    keep(ctx, out_grad, x_grad);
    const T zero(0.0f);
    copy_pieces<T>(ctx, from_one(pieces), array_from_host(ctx, &zero, 1), x_grad);
  }
  if (values_grad) sum_pieces_back<T>(ctx, pieces, out_grad, values_grad);
}

/// `offset` is in bytes.
template <typename T, typename Context>
void SetKernel(const Context& ctx, const DenseTensor& source, const std::vector<int64_t>& stride,
               int64_t offset, DenseTensor* out) {
  const Dims& dims = out->dims();
  const Dims own = dims.strides();
  const Dims strides = stride.empty() ? own : Dims(stride);
  Pieces pieces({0, offset / static_cast<int64_t>(sizeof(T))});
  for (int d = 0; d < dims.ndim(); ++d) pieces.append(dims[d], {own[d], strides[d]});
  copy_pieces<T>(ctx, pieces, source, out);
}

using SetValueGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(set_value, PHI_DEVICE, SetValueKernel, EveryType);
PHI_REGISTER_KERNEL(set_value_with_tensor, PHI_DEVICE, SetValueWithTensorKernel, EveryType);
PHI_REGISTER_KERNEL(set_value_with_tensor_grad, PHI_DEVICE, SetValueWithTensorGradKernel,
                    SetValueGradTypes);
PHI_REGISTER_KERNEL(set, PHI_DEVICE, SetKernel, EveryType);

}  // namespace phi
