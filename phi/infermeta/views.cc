// Shapes of ops that view the elements of a tensor under another shape.
#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/data_movement.h"
#include "phi/infermeta/shape.h"

namespace phi {

TensorMeta TensorUnfoldInferMeta(const TensorMeta& input, int64_t axis, int64_t size,
                                 int64_t step) {
  // A 0-D tensor has one window of one element.
  const bool scalar = input.dims.ndim() == 0 && (axis == 0 || axis == -1);
  const int d = scalar ? 0 : normalise_axis(axis, input.dims.ndim(), input.dims);
  const int64_t extent = scalar ? 1 : input.dims[d];
  PHI_CHECK(size >= 0 && step > 0 && (extent == kUnknownDim || size <= extent),
            errors::InvalidArgument("windows of {} elements with step {} are taken along axis {} "
                                    "of input {}: step must be positive and size at most {}.",
                                    size, step, d, input.to_string(), extent));
  TensorMeta out = input;
  if (!scalar) out.dims[d] = extent == kUnknownDim ? kUnknownDim : (extent - size) / step + 1;
  out.dims.push_back(size);
  return out;
}

TensorMeta AsStridedInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims,
                              const std::vector<int64_t>& stride, int64_t offset) {
  PHI_CHECK(
      dims.size() == stride.size(),
      errors::InvalidArgument("dims has {} entries and stride {}; pass one stride per extent.",
                              dims.size(), stride.size()));
  bool inside = offset >= 0;
  bool empty = false;
  __int128 last = offset;  // the position of the last element
  for (size_t d = 0; d < dims.size(); ++d) {
    inside = inside && dims[d] >= 0 && stride[d] >= 0;
    empty = empty || dims[d] == 0;
    last += static_cast<__int128>(dims[d] - 1) * stride[d];
    inside = inside && last <= INT64_MAX;
  }
  const Dims out(dims);
  PHI_CHECK(inside && (empty || !input.dims.known() || last < input.numel()),
            errors::InvalidArgument("dims {} with stride {} from offset {} are not within input {} "
                                    "of {} elements; extents, strides and offset are at least 0.",
                                    out.to_string(), IntArray(stride).to_string(), offset,
                                    input.to_string(), input.numel()));
  return {out, input.dtype, input.layout};
}

TensorMeta FlattenInferMeta(const TensorMeta& x, int start_axis, int stop_axis) {
  const int ndim = x.dims.ndim();
  if (ndim == 0) {  // a 0-D tensor accepts axes 0 and -1
    normalise_axis(start_axis, 1, x.dims, "start_axis");
    normalise_axis(stop_axis, 1, x.dims, "stop_axis");
    return {Dims{1}, x.dtype, x.layout};
  }
  const int first = normalise_axis(start_axis, ndim, x.dims, "start_axis");
  const int last = normalise_axis(stop_axis, ndim, x.dims, "stop_axis");
  PHI_CHECK(
      first <= last,
      errors::InvalidArgument(
          "start_axis is {} and stop_axis {} of x {}: the first must not be after the second.",
          start_axis, stop_axis, x.to_string()));
  Dims out;
  for (int d = 0; d < first; ++d) out.push_back(x.dims[d]);
  bool known = true;
  for (int d = first; d <= last; ++d) known = known && x.dims[d] != kUnknownDim;
  out.push_back(known ? x.dims.numel(first, last + 1) : kUnknownDim);
  for (int d = last + 1; d < ndim; ++d) out.push_back(x.dims[d]);
  return {out, x.dtype, x.layout};
}

TensorMeta ViewShapeInferMeta(const TensorMeta& input, const std::vector<int64_t>& dims) {
  return ReshapeInferMeta(input, dims);
}

TensorMeta ViewDtypeInferMeta(const TensorMeta& input, DataType dtype) {
  PHI_CHECK(dtype != DataType::UNDEFINED,
            errors::InvalidArgument(
                "dtype is undefined; pass the one in which to view the bits of input {}.",
                input.to_string()));
  const auto from = static_cast<int64_t>(size_of(input.dtype));
  const auto to = static_cast<int64_t>(size_of(dtype));
  TensorMeta out{input.dims, dtype, input.layout};
  if (from == to) return out;
  const int last = input.dims.ndim() - 1;
  PHI_CHECK(last >= 0 && (input.dims[last] == kUnknownDim || from > to ||
                          input.dims[last] % (to / from) == 0),
            errors::InvalidArgument("input is {}, and its last tensor dim is not a multiple of the "
                                    "size of {}, {} bytes; pad or reshape it.",
                                    input.to_string(), name_of(dtype), to));
  if (input.dims[last] != kUnknownDim)
    out.dims[last] =
        from < to ? input.dims[last] / (to / from) : extent_times(input.dims[last], from / to);
  return out;
}

TensorMeta ViewSliceInferMeta(const TensorMeta& input, int64_t begin_idx, int64_t end_idx) {
  const bool rows = input.dims.ndim() > 0;
  const int64_t extent = rows ? input.dims[0] : 0;
  PHI_CHECK(
      rows && begin_idx >= 0 && begin_idx < end_idx && (extent == kUnknownDim || end_idx <= extent),
      errors::InvalidArgument(
          "rows [{}, {}) are selected from input {}: they must exist, and be at least one.",
          begin_idx, end_idx, input.to_string()));
  TensorMeta out = input;
  out.dims[0] = end_idx - begin_idx;
  return out;
}

}  // namespace phi
