// Shapes of ops that flip, shift, repeat, crop and pad.
#include "phi/infermeta/data_movement.h"

#include <algorithm>
#include <array>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

template <typename Axes>
void check_axes(const TensorMeta& x, const Axes& axes) {
  for (int64_t axis : axes) normalise_axis(axis, x.dims.ndim(), x.dims);
}

}  // namespace

TensorMeta FlipInferMeta(const TensorMeta& x, const std::vector<int>& axis) {
  check_axes(x, axis);
  // Rejects a repeated axis.
  normalise_axes(std::vector<int64_t>(axis.begin(), axis.end()), x.dims);
  return x;
}

TensorMeta ReverseInferMeta(const TensorMeta& x, const IntArray& axis) {
  check_axes(x, axis.values());
  return x;
}

TensorMeta RollInferMeta(const TensorMeta& x, const IntArray& shifts,
                         const std::vector<int64_t>& axis) {
  const size_t expected = axis.empty() ? 1 : axis.size();
  PHI_CHECK(static_cast<size_t>(shifts.size()) == expected,
            errors::InvalidArgument("shifts has {} entries and axis {}: pass one shift per axis, "
                                    "or one shift and no axis to roll all of x {} as one.",
                                    shifts.size(), axis.size(), x.to_string()));
  check_axes(x, axis);
  return x;
}

TensorMeta TileInferMeta(const TensorMeta& x, const IntArray& repeat_times) {
  const int ndim = std::max(x.dims.ndim(), repeat_times.size());
  TensorMeta out{Dims::filled(ndim, 1), x.dtype, x.layout};
  for (int back = 1; back <= ndim; ++back) {
    const int64_t extent = back <= x.dims.ndim() ? x.dims[x.dims.ndim() - back] : 1;
    const int64_t copies =
        back <= repeat_times.size() ? repeat_times[repeat_times.size() - back] : 1;
    PHI_CHECK(copies >= 0, errors::InvalidArgument("repeat_times is {} for x {}, but each must be "
                                                   "at least 0.",
                                                   repeat_times.to_string(), x.to_string()));
    out.dims[ndim - back] = extent_times(extent, copies);
  }
  return out;
}

TensorMeta RepeatInterleaveInferMeta(const TensorMeta& x, int repeats, int axis,
                                     int64_t output_size) {
  const int d = normalise_axis(axis, x.dims.ndim(), x.dims);
  PHI_CHECK(repeats > 0, errors::InvalidArgument("repeats is {} for x {}, but it must be positive.",
                                                 repeats, x.to_string()));
  TensorMeta out = x;
  out.dims[d] = extent_times(x.dims[d], repeats);
  PHI_CHECK(
      output_size == -1 || output_size == out.dims[d],
      errors::InvalidArgument(
          "output_size is {}, but {} repeats along axis {} of x {} yield {}; pass that, or -1.",
          output_size, repeats, d, x.to_string(), out.dims[d]));
  return out;
}

TensorMeta RepeatInterleaveWithTensorIndexInferMeta(const TensorMeta& x, const TensorMeta& repeats,
                                                    int axis, int64_t output_size) {
  const int d = normalise_axis(axis, x.dims.ndim(), x.dims);
  const bool integers = repeats.dtype == DataType::INT32 || repeats.dtype == DataType::INT64;
  const bool fits = repeats.dims.ndim() == 1 &&
                    (repeats.numel() == x.dims[d] || repeats.numel() == 1 || !x.dims.known());
  PHI_CHECK(integers && fits,
            errors::InvalidArgument("repeats is {}, but it must hold an int32 or int64 for each of "
                                    "the {} indices of axis {} of x {}, or one for all.",
                                    repeats.to_string(), x.dims[d], d, x.to_string()));
  PHI_CHECK(
      output_size >= -1,
      errors::InvalidArgument(
          "output_size is {}; pass the sum of repeats, or -1 to have it computed.", output_size));
  TensorMeta out = x;
  out.dims[d] = kUnknownDim;
  return out;
}

TensorMeta CropInferMeta(const TensorMeta& x, const IntArray& shape, const IntArray& offsets) {
  const int ndim = x.dims.ndim();
  PHI_CHECK(shape.size() == ndim && offsets.size() == ndim,
            errors::InvalidArgument(
                "shape is {} and offsets {}, but x is {}: pass one of each per tensor dim.",
                shape.to_string(), offsets.to_string(), x.to_string()));
  TensorMeta out = x;
  for (int d = 0; d < ndim; ++d) {
    const int64_t extent = x.dims[d];
    out.dims[d] =
        shape[d] == -1 ? extent_plus(extent, -std::max<int64_t>(offsets[d], 0)) : shape[d];
    const bool inside = offsets[d] >= 0 && shape[d] >= -1 &&
                        (extent == kUnknownDim || (out.dims[d] >= 0 && out.dims[d] <= extent &&
                                                   offsets[d] <= extent - out.dims[d]));
    PHI_CHECK(inside,
              errors::InvalidArgument("shape {} from offsets {} is not within x {} along tensor "
                                      "dim {}; -1 selects all that follow.",
                                      shape.to_string(), offsets.to_string(), x.to_string(), d));
  }
  return out;
}

TensorMeta PadInferMeta(const TensorMeta& x, const std::vector<int>& paddings,
                        const Scalar& pad_value) {
  const bool right = static_cast<int>(paddings.size()) == 2 * x.dims.ndim() &&
                     std::ranges::all_of(paddings, [](int n) { return n >= 0; });
  PHI_CHECK(
      right,
      errors::InvalidArgument(
          "paddings are {}, but x {} requires two per tensor dim, before and after, of at least 0.",
          Dims(std::vector<int64_t>(paddings.begin(), paddings.end())).to_string(), x.to_string()));
  check_held(pad_value, x.dtype, "pad_value");
  TensorMeta out = x;
  for (int d = 0; d < x.dims.ndim(); ++d) {
    const auto at = static_cast<size_t>(2 * d);
    out.dims[d] = extent_plus(x.dims[d], int64_t{paddings[at]} + paddings[at + 1]);
  }
  return out;
}

int first_padded_dim(const std::string& data_format) {
  PHI_CHECK(
      data_format == "NCDHW" || data_format == "NDHWC",
      errors::InvalidArgument("data_format is '{}'; NCDHW and NDHWC are accepted.", data_format));
  return data_format == "NCDHW" ? 2 : 1;
}

std::vector<Padding> paddings_by_dim(const IntArray& paddings) {
  return {{paddings[4], paddings[5]}, {paddings[2], paddings[3]}, {paddings[0], paddings[1]}};
}

TensorMeta Pad3dInferMeta(const TensorMeta& x, const IntArray& paddings, const std::string& mode,
                          double pad_value, const std::string& data_format) {
  const int first = first_padded_dim(data_format);
  constexpr std::array kModes = {"constant", "reflect", "replicate", "circular"};
  PHI_CHECK(std::ranges::find(kModes, mode) != kModes.end(),
            errors::InvalidArgument("mode is '{}'; constant, reflect, replicate and circular are "
                                    "accepted.",
                                    mode));
  PHI_CHECK(x.dims.ndim() == 5 && paddings.size() == 6,
            errors::InvalidArgument("x is {} and paddings are {}, but x must have 5 tensor dims "
                                    "and paddings 6 entries, before and after the last, the "
                                    "second and the first of depth, height and width.",
                                    x.to_string(), paddings.to_string()));
  check_held(pad_value, x.dtype, "pad_value");
  TensorMeta out = x;
  for (int k = 0; k < 3; ++k) {
    const auto [before, after] = paddings_by_dim(paddings)[static_cast<size_t>(k)];
    const int64_t extent = x.dims[first + k];
    if (extent == kUnknownDim) continue;
    out.dims[first + k] = extent_plus(extent_plus(extent, before), after);
    // All modes but constant pad with elements of x; reflect excludes the edge.
    const bool has_source = mode == "constant" || x.numel() == 0 || extent > 0;
    const bool reflects = mode != "reflect" || (before < extent && after < extent);
    PHI_CHECK(out.dims[first + k] >= 0 && has_source && reflects,
              errors::InvalidArgument("paddings {} and {} of tensor dim {} of x {} are too {} for "
                                      "mode {}.",
                                      before, after, first + k, x.to_string(),
                                      out.dims[first + k] < 0 ? "negative" : "large", mode));
  }
  return out;
}

SliceSteps slice_steps(int64_t start, int64_t end, int64_t step, int64_t extent) {
  // The positions of a negative step run from the last index to before the first.
  const int64_t lowest = step < 0 ? -1 : 0;
  const int64_t highest = step < 0 ? extent - 1 : extent;
  const auto place = [&](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, lowest, std::max(lowest, highest));
  };
  const int64_t begin = place(start);
  const int64_t stop = place(end);
  const int64_t distance = step < 0 ? begin - stop : stop - begin;
  if (distance <= 0) return {begin, 0};
  // |step| - 1, which does not overflow for INT64_MIN.
  const int64_t size = step < 0 ? -(step + 1) : step - 1;
  return {begin, 1 + (distance - 1) / (size == INT64_MAX ? size : size + 1)};
}

TensorMeta StridedSliceInferMeta(const TensorMeta& x, const std::vector<int>& axes,
                                 const IntArray& starts, const IntArray& ends,
                                 const IntArray& strides) {
  const int count = static_cast<int>(axes.size());
  PHI_CHECK(
      starts.size() == count && ends.size() == count && strides.size() == count,
      errors::InvalidArgument("axes names {} tensor dims of x {}, but there are {} starts, {} ends "
                              "and {} strides; pass one of each per axis.",
                              count, x.to_string(), starts.size(), ends.size(), strides.size()));
  TensorMeta out = x;
  AxisSet seen;
  for (int i = 0; i < count; ++i) {
    const int d = normalise_axis(axes[static_cast<size_t>(i)], x.dims.ndim(), x.dims, "axes");
    PHI_CHECK(!seen.has(d) && strides[i] != 0,
              errors::InvalidArgument("axes names tensor dim {} of x {} with stride {}: name each "
                                      "once, with a stride that is not 0.",
                                      d, x.to_string(), strides[i]));
    seen.add(d);
    if (x.dims[d] == kUnknownDim) continue;
    out.dims[d] = slice_steps(starts[i], ends[i], strides[i], x.dims[d]).count;
  }
  return out;
}

}  // namespace phi
