// Shapes and dtypes of scans, and of ops that sort, select or search along an axis.
#include "phi/infermeta/sort.h"

#include <limits>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"
#include "phi/infermeta/reduce.h"
#include "phi/infermeta/unary.h"

namespace phi {
namespace {

// The extent along the axis. A 0-D tensor accepts axes 0 and -1, with extent 1.
int64_t extent_along(const TensorMeta& x, int64_t axis) {
  if (x.dims.ndim() == 0 && (axis == 0 || axis == -1)) return 1;
  return x.dims[normalise_axis(axis, x.dims.ndim(), x.dims)];
}

TensorMeta with_axis_extent(const TensorMeta& x, int64_t axis, int64_t extent) {
  TensorMeta out = x;
  if (x.dims.ndim() > 0) out.dims[normalise_axis(axis, x.dims.ndim(), x.dims)] = extent;
  return out;
}

TensorMeta as_indices(TensorMeta meta, DataType dtype = DataType::INT64) {
  meta.dtype = dtype;
  return meta;
}

void check_k(const TensorMeta& x, int64_t k, int64_t extent) {
  PHI_CHECK(k >= 1 && (k <= extent || extent == kUnknownDim),
            errors::InvalidArgument("k is {}, but x {} has {} elements along the axis; k must be "
                                    "from 1 to that.",
                                    k, x.to_string(), extent));
}

std::tuple<TensorMeta, TensorMeta> one_of(const TensorMeta& x, int axis, bool keepdim) {
  const TensorMeta out = ReduceInferMeta(x, {axis}, keepdim);
  return {out, as_indices(out)};
}

}  // namespace

TensorMeta CumsumInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten) {
  if (flatten) return {{x.dims.known() ? x.dims.numel() : kUnknownDim}, x.dtype, x.layout};
  extent_along(x, axis.to<int64_t>());
  return x;
}

TensorMeta LogcumsumexpInferMeta(const TensorMeta& x, const Scalar& axis, bool flatten) {
  return FloatUnaryInferMeta(CumsumInferMeta(x, axis, flatten));
}

TensorMeta CumprodInferMeta(const TensorMeta& x, int dim) {
  PHI_CHECK(x.dims.ndim() > 0 || dim == 0,
            errors::OutOfRange("dim is {}, but x is 0-D and allows dim 0 only.", dim));
  if (x.dims.ndim() > 0) normalise_axis(dim, x.dims.ndim(), x.dims, "dim");
  return x;
}

std::tuple<TensorMeta, TensorMeta> CumWithIndicesInferMeta(const TensorMeta& x, int axis,
                                                           DataType dtype) {
  PHI_CHECK(dtype == DataType::INT32 || dtype == DataType::INT64,
            errors::InvalidArgument("dtype is {}, but an index is int32 or int64; use one.",
                                    name_of(dtype)));
  const int64_t extent = extent_along(x, axis);
  PHI_CHECK(dtype == DataType::INT64 || extent <= std::numeric_limits<int32_t>::max(),
            errors::InvalidArgument(
                "an index into {} elements of x {} does not fit int32; use dtype int64.", extent,
                x.to_string()));
  return {x, as_indices(x, dtype)};
}

std::tuple<TensorMeta, TensorMeta> ArgsortInferMeta(const TensorMeta& x, int axis) {
  extent_along(x, axis);
  return {x, as_indices(x)};
}

std::tuple<TensorMeta, TensorMeta> TopkInferMeta(const TensorMeta& x, const Scalar& k, int axis) {
  const int64_t count = count_of(k, "k");
  check_k(x, count, extent_along(x, axis));
  const TensorMeta out = with_axis_extent(x, axis, count);
  return {out, as_indices(out)};
}

std::tuple<TensorMeta, TensorMeta> KthvalueInferMeta(const TensorMeta& x, int k, int axis,
                                                     bool keepdim) {
  check_k(x, k, extent_along(x, axis));
  return one_of(x, axis, keepdim);
}

std::tuple<TensorMeta, TensorMeta> ModeInferMeta(const TensorMeta& x, int axis, bool keepdim) {
  PHI_CHECK(extent_along(x, axis) != 0,
            errors::InvalidArgument("x {} has no elements along axis {}, and an empty set has no "
                                    "most frequent one; there must be at least one.",
                                    x.to_string(), axis));
  return one_of(x, axis, keepdim);
}

std::tuple<TensorMeta, TensorMeta> NanmedianInferMeta(const TensorMeta& x, const IntArray& axis,
                                                      bool keepdim, const std::string& mode) {
  PHI_CHECK(mode == "avg" || mode == "min",
            errors::InvalidArgument("mode is '{}', but it must be 'avg', the mean of two middle "
                                    "elements, or 'min', the lower.",
                                    mode));
  // A reduction over no elements gives NaN for floats and is an error for integers.
  const TensorMeta out =
      is_floating(x.dtype) ? ReduceInferMeta(x, axis, keepdim) : MaxInferMeta(x, axis, keepdim);
  TensorMeta medians = as_indices(out);
  if (mode == "avg") medians.dims.push_back(2);
  return {out, medians};
}

TensorMeta SearchsortedInferMeta(const TensorMeta& sorted_sequence, const TensorMeta& values,
                                 bool out_int32) {
  const Dims& sequence = sorted_sequence.dims;
  const int last = sequence.ndim() - 1;
  bool fits = last == 0 || (last > 0 && values.dims.ndim() == sequence.ndim());
  for (int d = 0; fits && d < last; ++d) {
    fits = sequence[d] == values.dims[d] || sequence[d] == kUnknownDim ||
           values.dims[d] == kUnknownDim;
  }
  PHI_CHECK(fits, errors::InvalidArgument(
                      "sorted_sequence is {} and values is {}: it must be 1-D, or have all tensor "
                      "dims of values but the last; reshape one of them.",
                      sorted_sequence.to_string(), values.to_string()));
  PHI_CHECK(sorted_sequence.dtype == values.dtype,
            errors::InvalidArgument("sorted_sequence is {} and values is {}: they must be of one "
                                    "dtype; cast one of them.",
                                    sorted_sequence.to_string(), values.to_string()));
  PHI_CHECK(
      !out_int32 || sequence[last] <= std::numeric_limits<int32_t>::max(),
      errors::InvalidArgument(
          "a position among {} elements of sorted_sequence {} does not fit int32; omit out_int32.",
          sequence[last], sorted_sequence.to_string()));
  return {values.dims, out_int32 ? DataType::INT32 : DataType::INT64, values.layout};
}

}  // namespace phi
