// Rules of ops that order, choose or scan elements along an axis and answer where they stood.
#pragma once

#include <string>

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

/// One element of each line along the axis, which must be whole, and its place: out and indices.
SpmdRule KthvalueInferSpmd(const TensorSpec& x, int k, int axis, bool keepdim);
SpmdRule ModeInferSpmd(const TensorSpec& x, int axis, bool keepdim);
/// The gradient of both: as x along the other dims.
SpmdRule ChosenGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, bool keepdim);
/// The dims in `axis` (all if there are none) must be whole. Outputs: out, and medians with a last
/// dim of two if `mode` is "avg".
SpmdRule NanmedianInferSpmd(const TensorSpec& x, const IntArray& axis, bool keepdim,
                            const std::string& mode);
SpmdRule NanmedianGradInferSpmd(const TensorSpec& x, const TensorSpec& medians,
                                const TensorSpec& out_grad, const IntArray& axis, bool keepdim,
                                const std::string& mode);
/// Values may be split in any way; the sequence is whole along its last dim, and lies as values
/// along the others.
SpmdRule SearchsortedInferSpmd(const TensorSpec& sorted_sequence, const TensorSpec& values);
/// The dim must be whole.
SpmdRule CumprodInferSpmd(const TensorSpec& x, int dim);
SpmdRule CumprodGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int dim);
/// As CumsumInferSpmd: the axis is whole, all of x with `flatten`.
SpmdRule LogcumsumexpGradInferSpmd(const TensorSpec& x, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, bool flatten);

}  // namespace phi::distributed
