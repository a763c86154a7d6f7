// Sharding rules of ops that sort, select or scan along an axis and return positions.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// The axis must be whole. Outputs: values and indices, both sharded like x.
SpmdRule TopkInferSpmd(const TensorSpec& x, const Scalar& k, int axis, bool largest, bool sorted);
SpmdRule ArgSortInferSpmd(const TensorSpec& x, int axis, bool descending, bool stable);
SpmdRule CummaxInferSpmd(const TensorSpec& x, int axis, DataType dtype);
SpmdRule CumminInferSpmd(const TensorSpec& x, int axis, DataType dtype);

/// The axis is whole; the other dims of all tensors and of x's gradient are sharded alike.
SpmdRule TopkGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                           const TensorSpec& out_grad, const Scalar& k, int axis, bool largest,
                           bool sorted);
SpmdRule ArgSortGradInferSpmd(const TensorSpec& indices, const TensorSpec& x,
                              const TensorSpec& out_grad, int axis, bool descending, bool stable);
SpmdRule CummaxGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType dtype);
SpmdRule CumminGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType dtype);

/// Selects one element of each line along the axis, which must be whole. Outputs: out and indices.
SpmdRule KthvalueInferSpmd(const TensorSpec& x, int k, int axis, bool keepdim);
SpmdRule ModeInferSpmd(const TensorSpec& x, int axis, bool keepdim);
/// The gradient of both, sharded like x along the other dims.
SpmdRule ChosenGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, bool keepdim);
/// The dims in `axis` must be whole; an empty `axis` means all. Outputs: out, and medians, which
/// have a last dim of size 2 if `mode` is "avg".
SpmdRule NanmedianInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            const std::string& mode);
SpmdRule NanmedianGradInferSpmd(const TensorSpec& x, const TensorSpec& medians,
                                const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                const std::string& mode);
/// values may be split in any way. The sequence is whole along its last dim and sharded like values
/// along the others.
SpmdRule SearchsortedInferSpmd(const TensorSpec& sorted_sequence, const TensorSpec& values);
/// The dim must be whole.
SpmdRule CumprodInferSpmd(const TensorSpec& x, int dim);
SpmdRule CumprodGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int dim);
/// The axis must be whole, as in CumsumInferSpmd; with `flatten` all of x must be.
SpmdRule LogcumsumexpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, bool flatten);

}  // namespace phi::distributed
