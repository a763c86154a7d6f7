// Rules of reductions, and of ops that need whole an axis that they work along.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// Splits of reduced dims make the output Partial(kind). No axis means all.
SpmdRule ReductionInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            ReduceKind kind);
SpmdRule ReductionSumInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
/// Partial(sum): the kernel divides local sums by the global count, which is right for uneven
/// shards where an average of averages is not.
SpmdRule ReductionMeanInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
SpmdRule ReductionMaxInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim);
/// Sums x down to target's shape: Partial(sum) where a split tensor dim goes. Target follows, and a
/// partial x stays as it is.
SpmdRule ReduceAsInferSpmd(const TensorSpec& x, const TensorSpec& target);
/// The sum over all elements: Partial(sum) where x is split.
SpmdRule SquaredL2NormInferSpmd(const TensorSpec& x);
/// The axis must be whole; with `flatten` all of x.
SpmdRule ArgMaxInferSpmd(const TensorSpec& x, const Scalar& axis, bool keepdims, bool flatten);
/// The axis must be whole.
SpmdRule SoftmaxInferSpmd(const TensorSpec& x, int axis);
SpmdRule SoftmaxGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad, int axis);

}  // namespace phi::distributed
