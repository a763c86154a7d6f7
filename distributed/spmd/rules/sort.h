// Rules of ops that order, choose or scan elements along an axis and answer where they stood.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// The axis must be whole. Outputs: values and indices, both as x.
SpmdRule TopkInferSpmd(const TensorSpec& x, const Scalar& k, int axis, bool largest, bool sorted);
SpmdRule ArgSortInferSpmd(const TensorSpec& x, int axis, bool descending, bool stable);
SpmdRule CummaxInferSpmd(const TensorSpec& x, int axis, DataType dtype);
SpmdRule CumminInferSpmd(const TensorSpec& x, int axis, DataType dtype);

/// The axis is whole; the others lie alike in all tensors and in the gradient of x.
SpmdRule TopkGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                           const TensorSpec& out_grad, const Scalar& k, int axis, bool largest,
                           bool sorted);
SpmdRule ArgSortGradInferSpmd(const TensorSpec& indices, const TensorSpec& x,
                              const TensorSpec& out_grad, int axis, bool descending, bool stable);
SpmdRule CummaxGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType dtype);
SpmdRule CumminGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType dtype);

}  // namespace phi::distributed
