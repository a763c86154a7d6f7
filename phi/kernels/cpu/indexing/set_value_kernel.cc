// Writing into a slice with steps on the CPU: set_value, set_value_with_tensor and its gradient;
// and `set`, which sees a storage with other strides.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/set_value.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/strided_walk.h"

namespace phi {
namespace {

/// The elements of a slice that a part of a tensor has: numbers first ... first + count - 1 of it,
/// the first at `at` in the part.
struct LocalSteps {
  int64_t at;
  int64_t first;
  int64_t count;
};
LocalSteps local_steps(const SteppedBounds& slice, int64_t offset, int64_t size) {
  // The number of the first element that is not before `place`, in the direction of the steps.
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

/// What a slice and the values of it have in common, row by row.
class SliceAndValues {
 public:
  /// `here` is where the array with the slice lies; values, of dims `values`, are whole along
  /// `axes`, and along the other dims the part that belongs to the array, or whole too.
  SliceAndValues(const ShardBox& here, const IntArray& starts, const IntArray& ends,
                 const IntArray& steps, const std::vector<int64_t>& axes, const SliceDims& slice,
                 const Dims& values, bool values_are_whole) {
    const Dims& dims = here.box.size;
    const Dims strides = dims.strides();
    const Dims value_steps = steps_of_values(slice, values, dims.ndim());
    Dims counts = dims;
    Dims jumps = Dims::filled(dims.ndim(), 1);
    AxisSet sliced;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int d = normalise_axis(axes[i], dims.ndim(), dims, "axes");
      const auto n = static_cast<int>(i);
      const SteppedBounds bounds = stepped_bounds(starts[n], ends[n], steps[n], here.global[d]);
      const LocalSteps local = local_steps(bounds, here.box.offset[d], dims[d]);
      sliced.add(d);
      counts[d] = local.count;
      jumps[d] = bounds.step;
      first_ += local.count > 0 ? local.at * strides[d] : 0;
      first_value_ += local.first * value_steps[d];
    }
    for (int d = 0; d < dims.ndim(); ++d) {
      if (values_are_whole && !sliced.has(d)) first_value_ += here.box.offset[d] * value_steps[d];
      walk_.append(counts[d], {jumps[d] * strides[d], value_steps[d]});
    }
    const int last = walk_.ndim() - 1;
    if (last < 0) return;
    row_ = walk_.size(last);
    step_ = walk_.stride(last, 0);
    value_step_ = walk_.stride(last, 1);
    walk_.remove(last);
  }

  /// Calls f(offset in the array, offset in values) for each element.
  template <typename F>
  void for_each(F&& f) const {
    if (row_ == 0) return;
    walk_.for_each([&](const std::array<int64_t, 2>& at) {
      const int64_t own = first_ + at[0];
      const int64_t value = first_value_ + at[1];
      for (int64_t i = 0; i < row_; ++i) f(own + i * step_, value + i * value_step_);
    });
  }

 private:
  // By tensor dim of x: how far values move along it; 0 where they are broadcast.
  static Dims steps_of_values(const SliceDims& slice, const Dims& values, int ndim) {
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

  StridedWalk<2> walk_;
  int64_t first_ = 0;
  int64_t first_value_ = 0;
  int64_t row_ = 1;
  int64_t step_ = 0;
  int64_t value_step_ = 0;
};

template <typename T>
void copy_all(const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  if (x.data<T>() != to) std::copy_n(x.data<T>(), x.numel(), to);
}

}  // namespace

/// `values` have the dims `shape`, or are one for all. out may be x.
template <typename T, typename Context>
void SetValueKernel(const Context& ctx, const DenseTensor& x, const IntArray& starts,
                    const IntArray& ends, const IntArray& steps, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& decrease_axes,
                    const std::vector<int64_t>& none_axes, const std::vector<int64_t>& shape,
                    const std::vector<Scalar>& values, DenseTensor* out) {
  copy_all<T>(x, out);
  const auto own = std::make_unique<T[]>(values.size());
  for (size_t i = 0; i < values.size(); ++i) own[i] = values[i].to<T>();
  const SliceDims slice = slice_dims(x.ndim(), decrease_axes, none_axes);
  const SliceAndValues places(ctx.output_box(0, out->dims()), starts, ends, steps, axes, slice,
                              values.size() == 1 ? Dims{} : Dims(shape), /*values_are_whole=*/true);
  T* to = out->mutable_data<T>();
  places.for_each([&](int64_t at, int64_t value) { to[at] = own[static_cast<size_t>(value)]; });
}

/// The slice is of the *global* tensor, whatever part of that is here. out may be x.
template <typename T, typename Context>
void SetValueWithTensorKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& values,
                              const IntArray& starts, const IntArray& ends, const IntArray& steps,
                              const std::vector<int64_t>& axes,
                              const std::vector<int64_t>& decrease_axes,
                              const std::vector<int64_t>& none_axes, DenseTensor* out) {
  copy_all<T>(x, out);
  const SliceDims slice = slice_dims(x.ndim(), decrease_axes, none_axes);
  const SliceAndValues places(ctx.output_box(0, out->dims()), starts, ends, steps, axes, slice,
                              values.dims(), /*values_are_whole=*/false);
  const T* from = values.data<T>();
  T* to = out->mutable_data<T>();
  places.for_each([&](int64_t at, int64_t value) { to[at] = from[value]; });
}

/// x_grad is out_grad with zeros in the slice, values_grad the sum of the slice over what values
/// were broadcast to.
template <typename T, typename Context>
void SetValueWithTensorGradKernel(const Context& ctx, const DenseTensor& out_grad,
                                  const IntArray& starts, const IntArray& ends,
                                  const IntArray& steps, const std::vector<int64_t>& axes,
                                  const std::vector<int64_t>& decrease_axes,
                                  const std::vector<int64_t>& none_axes, DenseTensor* x_grad,
                                  DenseTensor* values_grad) {
  const SliceDims slice = slice_dims(out_grad.ndim(), decrease_axes, none_axes);
  const SliceAndValues places(ctx.input_box(1, out_grad.dims()), starts, ends, steps, axes, slice,
                              values_grad ? values_grad->dims() : Dims{},
                              /*values_are_whole=*/false);
  if (x_grad) {
    copy_all<T>(out_grad, x_grad);
    T* to = x_grad->mutable_data<T>();
    places.for_each([&](int64_t at, int64_t) { to[at] = T(0.0f); });
  }
  if (!values_grad) return;
  using C = compute_t<T>;
  std::vector<C> sums(static_cast<size_t>(values_grad->numel()), C(0));
  const T* from = out_grad.data<T>();
  places.for_each([&](int64_t at, int64_t value) {
    sums[static_cast<size_t>(value)] += static_cast<C>(from[at]);
  });
  convert(sums.data(), values_grad->mutable_data<T>(), values_grad->numel());
}

/// `offset` is in bytes.
template <typename T, typename Context>
void SetKernel(const Context&, const DenseTensor& source, const std::vector<int64_t>& stride,
               int64_t offset, DenseTensor* out) {
  using W = width_t<T>;
  if (out->numel() == 0) return;
  const Dims& dims = out->dims();
  const Dims strides = stride.empty() ? dims.strides() : Dims(stride);
  StridedWalk<1> walk;
  for (int d = 0; d < dims.ndim(); ++d) walk.append(dims[d], {strides[d]});
  const auto* from =
      static_cast<const W*>(source.raw_data()) + offset / static_cast<int64_t>(sizeof(T));
  auto* to = static_cast<W*>(out->mutable_raw_data());
  walk.for_each([&](const std::array<int64_t, 1>& at) { *to++ = from[at[0]]; });
}

using Differentiable = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(set_value, CPU, SetValueKernel, EveryType);
PHI_REGISTER_KERNEL(set_value_with_tensor, CPU, SetValueWithTensorKernel, EveryType);
PHI_REGISTER_KERNEL(set_value_with_tensor_grad, CPU, SetValueWithTensorGradKernel, Differentiable);
PHI_REGISTER_KERNEL(set, CPU, SetKernel, EveryType);

}  // namespace phi
