// Shapes of ops that write into a strided slice, and of views of a storage.
#include "phi/infermeta/set_value.h"

#include <algorithm>
#include <limits>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

/// The extents of the slice in all tensor dims of x.
Dims extents_of_slice(const TensorMeta& x, const IntArray& starts, const IntArray& ends,
                      const IntArray& steps, const std::vector<int64_t>& axes) {
  const auto given = static_cast<int>(axes.size());
  PHI_CHECK(starts.size() == given && ends.size() == given && steps.size() == given,
            errors::InvalidArgument("axes names {} tensor dims, but there are {} starts, {} ends "
                                    "and {} steps; pass one of each per axis.",
                                    given, starts.size(), ends.size(), steps.size()));
  Dims out = x.dims;
  AxisSet seen;
  for (int i = 0; i < given; ++i) {
    const int d = normalise_axis(axes[static_cast<size_t>(i)], out.ndim(), x.dims, "axes");
    PHI_CHECK(!seen.has(d),
              errors::InvalidArgument("axes names tensor dim {} of x {} twice.", d, x.to_string()));
    seen.add(d);
    PHI_CHECK(steps[i] != 0,
              errors::InvalidArgument("steps[{}] is 0, but a step must not be 0.", i));
    if (out[d] != kUnknownDim) {
      out[d] = stepped_bounds(starts[i], ends[i], steps[i], out[d]).count;
    }
  }
  return out;
}

/// The shape to which values are broadcast.
Dims shape_of_slice(const TensorMeta& x, const Dims& extents,
                    const std::vector<int64_t>& decrease_axes,
                    const std::vector<int64_t>& none_axes) {
  for (int64_t axis : decrease_axes) {
    const int d = normalise_axis(axis, x.dims.ndim(), x.dims, "decrease_axes");
    PHI_CHECK(extents[d] == 1 || extents[d] == kUnknownDim,
              errors::InvalidArgument("decrease_axes names tensor dim {} of x {}, but the slice "
                                      "has {} elements there; only a tensor dim of 1 is removed.",
                                      d, x.to_string(), extents[d]));
  }
  Dims shape;
  for (int d : slice_dims(x.dims.ndim(), decrease_axes, none_axes)) {
    shape.push_back(d < 0 ? 1 : extents[d]);
  }
  return shape;
}

/// `values` may have more tensor dims than the slice if the leading ones have size 1.
void check_values(const TensorMeta& x, const Dims& values, const Dims& slice) {
  bool fits = true;
  for (int back = 1; fits && back <= values.ndim(); ++back) {
    const int64_t own = values[values.ndim() - back];
    const int64_t wanted = back <= slice.ndim() ? slice[slice.ndim() - back] : 1;
    fits = own == 1 || own == wanted || own == kUnknownDim || wanted == kUnknownDim;
  }
  PHI_CHECK(fits, errors::InvalidArgument("values has shape {}, but the slice of x {} has {}, to "
                                          "which it does not broadcast; reshape or expand it.",
                                          values.to_string(), x.to_string(), slice.to_string()));
}

/// Whether no extent is negative and the number of elements fits int64, with extents of 0 ignored.
bool countable(const Dims& dims) {
  int64_t n = 1;
  return std::ranges::all_of(dims, [&](int64_t extent) {
    return extent >= 0 && !__builtin_mul_overflow(n, std::max<int64_t>(extent, 1), &n);
  });
}

/// The distance in elements from the first to the last element of a view, saturated at INT64_MAX.
int64_t reach(const Dims& dims, const Dims& stride) {
  int64_t sum = 0;
  for (int d = 0; d < dims.ndim(); ++d) {
    int64_t part = 0;
    if (__builtin_mul_overflow(dims[d] - 1, stride[d], &part) ||
        __builtin_add_overflow(sum, part, &sum)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return sum;
}

}  // namespace

SteppedBounds stepped_bounds(int64_t start, int64_t end, int64_t step, int64_t extent) {
  // A step beyond the extent has the same effect as this one, and cannot overflow.
  step = std::clamp(step, -extent - 1, extent + 1);
  const int64_t lowest = step > 0 ? 0 : -1;
  const auto place = [=](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, lowest, extent + lowest);
  };
  const int64_t begin = place(start);
  const int64_t distance = (place(end) - begin) * (step > 0 ? 1 : -1);
  const int64_t length = step > 0 ? step : -step;
  return {begin, step, distance > 0 ? (distance - 1) / length + 1 : 0};
}

SliceDims slice_dims(int ndim, const std::vector<int64_t>& decrease_axes,
                     const std::vector<int64_t>& none_axes) {
  AxisSet left_out;
  for (int64_t axis : decrease_axes) {
    if (axis >= -ndim && axis < ndim) left_out.add(static_cast<int>(axis < 0 ? axis + ndim : axis));
  }
  SliceDims dims;
  size_t none = 0;
  for (int d = 0; d < ndim; ++d) {
    for (; none < none_axes.size() && none_axes[none] <= d; ++none) dims.push_back(-1);
    if (!left_out.has(d)) dims.push_back(d);
  }
  for (; none < none_axes.size(); ++none) dims.push_back(-1);
  return dims;
}

TensorMeta SetValueInferMeta(const TensorMeta& x, const IntArray& starts, const IntArray& ends,
                             const IntArray& steps, const std::vector<int64_t>& axes,
                             const std::vector<int64_t>& decrease_axes,
                             const std::vector<int64_t>& none_axes,
                             const std::vector<int64_t>& shape, const std::vector<Scalar>& values) {
  const Dims extents = extents_of_slice(x, starts, ends, steps, axes);
  const Dims value_dims(shape);
  const auto given = static_cast<int64_t>(values.size());
  PHI_CHECK(
      countable(value_dims) && (given == 1 || given == value_dims.numel()),
      errors::InvalidArgument(
          "there are {} values for shape {}; pass one for each of its elements, or one for all.",
          given, value_dims.to_string()));
  for (const Scalar& number : values) check_held(number, x.dtype, "values");
  check_values(x, value_dims, shape_of_slice(x, extents, decrease_axes, none_axes));
  return x;
}

TensorMeta SetValueWithTensorInferMeta(const TensorMeta& x, const TensorMeta& values,
                                       const IntArray& starts, const IntArray& ends,
                                       const IntArray& steps, const std::vector<int64_t>& axes,
                                       const std::vector<int64_t>& decrease_axes,
                                       const std::vector<int64_t>& none_axes) {
  PHI_CHECK(x.dtype == values.dtype,
            errors::InvalidArgument("values is {}, but x is {}; cast one of them.",
                                    values.to_string(), x.to_string()));
  const Dims extents = extents_of_slice(x, starts, ends, steps, axes);
  check_values(x, values.dims, shape_of_slice(x, extents, decrease_axes, none_axes));
  return x;
}

TensorMeta SetInferMeta(const TensorMeta& /*x*/, const TensorMeta& source,
                        const std::vector<int64_t>& dims, const std::vector<int64_t>& stride,
                        int64_t offset) {
  const Dims extents(dims);
  const bool row_major = stride.empty() && countable(extents);
  const Dims strides = row_major ? extents.strides() : Dims(stride);
  const auto width = static_cast<int64_t>(size_of(source.dtype));
  PHI_CHECK(
      countable(extents) && strides.ndim() == extents.ndim() &&
          std::ranges::none_of(strides, [](int64_t step) { return step < 0; }) && offset >= 0 &&
          offset % width == 0,
      errors::InvalidArgument(
          "dims is {}, stride is {} and offset is {}: pass a stride of at least 0 for each extent, "
          "and an offset in bytes that is a multiple of the element size of source {}.",
          extents.to_string(), strides.to_string(), offset, source.to_string()));
  const bool nothing = extents.numel() == 0 || !source.dims.known();
  const int64_t last = nothing ? 0 : reach(extents, strides);
  const bool fits = nothing || (last < source.numel() && offset / width < source.numel() - last &&
                                extents.numel() <= std::numeric_limits<int64_t>::max() / width);
  PHI_CHECK(fits, errors::InvalidArgument("dims is {}, stride is {} and offset is {}: that reaches "
                                          "beyond the {} elements of source {}.",
                                          extents.to_string(), strides.to_string(), offset,
                                          source.numel(), source.to_string()));
  return {extents, source.dtype, source.layout};
}

}  // namespace phi
