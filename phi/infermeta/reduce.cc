// Shapes and dtypes of reductions.
#include "phi/infermeta/reduce.h"

#include <limits>

#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

Dims reduced_dims(const Dims& dims, AxisSet reduced, bool keepdim) {
  Dims out;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (!reduced.has(d)) {
      out.push_back(dims[d]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

// The number of elements that each result combines; negative if it is unknown.
int64_t reduced_count(const Dims& dims, AxisSet reduced) {
  int64_t count = 1;
  for (int d = 0; d < dims.ndim(); ++d) count *= reduced.has(d) ? dims[d] : 1;
  return count;
}

/// The default dtype of a sum. Sums of 8-bit and 16-bit integers keep their dtype and wrap around.
DataType sum_dtype(DataType dtype) {
  const bool widens = dtype == DataType::BOOL || dtype == DataType::INT32;
  return widens ? DataType::INT64 : dtype;
}

}  // namespace

TensorMeta ReduceInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim) {
  return {reduced_dims(x.dims, normalise_axes(axis, x.dims), keepdim), x.dtype, x.layout};
}

TensorMeta MeanInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim) {
  PHI_CHECK(is_floating(x.dtype) || reduced_count(x.dims, normalise_axes(axis, x.dims)) != 0,
            errors::InvalidArgument("x {} has no elements over axis {}, and an integer cannot "
                                    "represent an undefined mean; cast x to a floating type.",
                                    x.to_string(), axis.to_string()));
  return ReduceInferMeta(x, axis, keepdim);
}

TensorMeta MaxInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim) {
  PHI_CHECK(reduced_count(x.dims, normalise_axes(axis, x.dims)) != 0,
            errors::InvalidArgument("x {} has no elements over axis {}, and an empty set has no "
                                    "largest or smallest one; there must be at least one.",
                                    x.to_string(), axis.to_string()));
  return ReduceInferMeta(x, axis, keepdim);
}

TensorMeta SumInferMeta(const TensorMeta& x, const IntArray& axis, DataType dtype, bool keepdim) {
  TensorMeta out = ReduceInferMeta(x, axis, keepdim);
  if (dtype != DataType::UNDEFINED) {
    PHI_CHECK(
        dtype == x.dtype || (!is_complex(x.dtype) && !is_complex(dtype)),
        errors::InvalidArgument(
            "the sum of {} cannot be computed in {}; cast x, or its real and imaginary parts.",
            x.to_string(), name_of(dtype)));
    out.dtype = dtype;
  } else {
    out.dtype = sum_dtype(x.dtype);
  }
  return out;
}

TensorMeta ReduceAllInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim,
                              bool reduce_all) {
  if (reduce_all) normalise_axes(axis, x.dims);  // rejects axes outside x
  return ReduceInferMeta(x, reduce_all ? IntArray() : axis, keepdim);
}

TensorMeta LogicalReduceInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis,
                                  bool keepdim) {
  TensorMeta out = ReduceInferMeta(x, axis, keepdim);
  out.dtype = DataType::BOOL;
  return out;
}

TensorMeta ReduceAsInferMeta(const TensorMeta& x, const TensorMeta& target) {
  const int added = x.dims.ndim() - target.dims.ndim();
  bool fits = added >= 0;
  for (int d = 0; fits && d < target.dims.ndim(); ++d) {
    const int64_t from = x.dims[added + d];
    const int64_t to = target.dims[d];
    fits = to == from || to == 1 || to == kUnknownDim || from == kUnknownDim;
  }
  PHI_CHECK(fits, errors::InvalidArgument(
                      "x is {} and target is {}: counted from the last, each tensor dim of target "
                      "must be as x's or 1; reshape one of them.",
                      x.to_string(), target.to_string()));
  return {target.dims, sum_dtype(x.dtype), x.layout};
}

TensorMeta SquaredL2NormInferMeta(const TensorMeta& x) {
  PHI_CHECK(is_floating(x.dtype),
            errors::InvalidArgument("x is {}, but it must be floating; cast it.", x.to_string()));
  const bool wide = x.dtype == DataType::FLOAT64;
  return {{1}, wide ? DataType::FLOAT64 : DataType::FLOAT32, x.layout};
}

TensorMeta ArgMaxInferMeta(const TensorMeta& x, const Scalar& axis, bool keepdims, bool flatten,
                           DataType dtype) {
  PHI_CHECK(dtype == DataType::INT32 || dtype == DataType::INT64,
            errors::InvalidArgument("dtype is {}, but an index is int32 or int64; use one.",
                                    name_of(dtype)));
  AxisSet reduced = AxisSet::all(x.dims.ndim());
  int64_t candidates = x.numel();
  if (!flatten) {  // a 0-D tensor accepts axes 0 and -1
    const int d = normalise_axis(axis.to<int64_t>(), std::max(x.dims.ndim(), 1), x.dims);
    if (x.dims.ndim() > 0) {
      reduced = AxisSet();
      reduced.add(d);
      candidates = x.dims[d];
    }
  }
  PHI_CHECK(candidates != 0,
            errors::InvalidArgument("x {} has no elements along the axis to search; it must have "
                                    "at least one.",
                                    x.to_string()));
  PHI_CHECK(dtype == DataType::INT64 || candidates <= std::numeric_limits<int32_t>::max(),
            errors::InvalidArgument(
                "an index into {} elements of x {} does not fit int32; use dtype int64.",
                candidates, x.to_string()));
  return {reduced_dims(x.dims, reduced, keepdims), dtype, x.layout};
}

TensorMeta TraceInferMeta(const TensorMeta& x, int axis1, int axis2) {
  const int ndim = x.dims.ndim();
  PHI_CHECK(ndim >= 2, errors::InvalidArgument("x is {}, but a diagonal needs two tensor dims.",
                                               x.to_string()));
  AxisSet gone;
  gone.add(normalise_axis(axis1, ndim, x.dims, "axis1"));
  const int second = normalise_axis(axis2, ndim, x.dims, "axis2");
  PHI_CHECK(!gone.has(second),
            errors::InvalidArgument("axis1 {} and axis2 {} are the same tensor dim of x {}; a "
                                    "diagonal needs two different ones.",
                                    axis1, axis2, x.to_string()));
  gone.add(second);
  return {reduced_dims(x.dims, gone, false), x.dtype, x.layout};
}

}  // namespace phi
