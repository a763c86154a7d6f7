// Shapes and dtypes of reductions.
#pragma once

#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Removes the tensor dims in `axis` (all if it is empty), or sets them to 1 with `keepdim`.
/// Errors: OutOfRange for an axis outside x; InvalidArgument for a repeated one.
TensorMeta ReduceInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// Like ReduceInferMeta. Errors: also InvalidArgument for integers reduced over no elements.
TensorMeta MeanInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// Like ReduceInferMeta. Errors: also InvalidArgument for a reduction over no elements.
TensorMeta MaxInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim);

/// Like ReduceInferMeta. The result has `dtype` if that is defined; otherwise int64 for integers
/// and bool, and x's dtype for others.
TensorMeta SumInferMeta(const TensorMeta& x, const IntArray& axis, DataType dtype, bool keepdim);

/// Like ReduceInferMeta; `reduce_all` reduces over all tensor dims.
TensorMeta ReduceAllInferMeta(const TensorMeta& x, const IntArray& axis, bool keepdim,
                              bool reduce_all);

/// Like ReduceInferMeta, but the result is bool.
TensorMeta LogicalReduceInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis,
                                  bool keepdim);

/// x summed to target's shape, in x's dtype. Errors: InvalidArgument if target's shape does not
/// broadcast to x's.
TensorMeta ReduceAsInferMeta(const TensorMeta& x, const TensorMeta& target);

/// [1]: float64 for float64, float32 for other floating dtypes. Errors: InvalidArgument if x is not
/// floating.
TensorMeta SquaredL2NormInferMeta(const TensorMeta& x);

/// The index of the largest element along `axis`, or in all of x in row-major order if `flatten`.
/// Errors: OutOfRange; InvalidArgument unless `dtype` is int32 or int64, and for a reduction over
/// no elements.
TensorMeta ArgMaxInferMeta(const TensorMeta& x, const Scalar& axis, bool keepdims, bool flatten,
                           DataType dtype);

/// x without two of its tensor dims. Errors: OutOfRange; InvalidArgument if they are equal or x has
/// fewer than two.
TensorMeta TraceInferMeta(const TensorMeta& x, int axis1, int axis2);

}  // namespace phi
