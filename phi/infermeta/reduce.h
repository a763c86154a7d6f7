// Shapes and dtypes of reductions.
#pragma once

#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Removes the tensor dims in `axis` (all if it is empty), or leaves them as 1 with `keepdim`.
/// Errors: OutOfRange for an axis x lacks; InvalidArgument for a repeated one.
TensorMeta ReduceInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// As ReduceInferMeta. Errors: InvalidArgument for integers if there is nothing to reduce.
TensorMeta MeanInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// As ReduceInferMeta. Errors: InvalidArgument if there is nothing to choose from.
TensorMeta MaxInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// As ReduceInferMeta; the result is `dtype` if that is defined, else int64 for integers and bool,
/// else x's dtype.
TensorMeta SumInferMeta(const TensorMeta& x, const IntArray& axis, DataType dtype, bool keepdim);

/// As ReduceInferMeta; `reduce_all` says all too.
TensorMeta ReduceAllInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim,
                              bool reduce_all);

/// As ReduceInferMeta; the result is bool.
TensorMeta LogicalReduceInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis,
                                  bool keepdim);

/// x summed down to target's shape, of x's dtype. Errors: InvalidArgument if target's shape does
/// not broadcast to x's.
TensorMeta ReduceAsInferMeta(const TensorMeta& x, const TensorMeta& target);

/// [1]: float64 for float64, float32 for the other floating dtypes.
/// Errors: InvalidArgument if x is not floating.
TensorMeta SquaredL2NormInferMeta(const TensorMeta& x);

/// The index of the largest element along `axis`, or in row-major order if `flatten`.
/// Errors: OutOfRange; InvalidArgument unless `dtype` is int32 or int64, and if there is nothing to
/// choose from.
TensorMeta ArgMaxInferMeta(const TensorMeta& x, const Scalar& axis, bool keepdims, bool flatten,
                           DataType dtype);

/// x without two of its tensor dims. Errors: OutOfRange; InvalidArgument if they are the same one,
/// or x has fewer than two.
TensorMeta TraceInferMeta(const TensorMeta& x, int axis1, int axis2);

}  // namespace phi
