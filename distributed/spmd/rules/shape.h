// Sharding rules of ops that move elements: transpose, squeeze, split, slice, expand, ... Rules of
// ops with one input tensor pass partial values.
#pragma once

#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

SpmdRule TransposeInferSpmd(const TensorSpec& x, const std::vector<int>& perm);
/// Without axes every dim of size 1 is removed. Axes with other sizes stay.
SpmdRule SqueezeInferSpmd(const TensorSpec& x, const IntArray& axis);
/// Axes are positions in the output, inserted in the order given.
SpmdRule UnsqueezeInferSpmd(const TensorSpec& x, const IntArray& axis);
/// The axis must be whole.
SpmdRule SplitInferSpmd(const TensorSpec& x, const IntArray& sections, const Scalar& axis);
SpmdRule SplitWithNumInferSpmd(const TensorSpec& x, int num, const Scalar& axis);
/// The axis must be whole and is removed; there is one output per element along it.
SpmdRule UnbindInferSpmd(const TensorSpec& x, int axis);
/// Padded dims must be whole. `paddings` has two entries per dim: before and after.
SpmdRule PadInferSpmd(const TensorSpec& x, const std::vector<int>& paddings,
                      const Scalar& pad_value);
SpmdRule PadGradInferSpmd(const TensorSpec& out_grad, const std::vector<int>& paddings,
                          const Scalar& pad_value);
/// Rolled dims must be whole. Without axes x is rolled as if flattened, so all of it must be.
SpmdRule RollInferSpmd(const TensorSpec& x, const IntArray& shifts,
                       const std::vector<int64_t>& axis);
SpmdRule RollGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, const IntArray& shifts,
                           const std::vector<int64_t>& axis);
/// Sliced axes must be whole.
SpmdRule SliceInferSpmd(const TensorSpec& input, const std::vector<int64_t>& axes,
                        const IntArray& starts, const IntArray& ends,
                        const std::vector<int64_t>& infer_flags,
                        const std::vector<int64_t>& decrease_axis);
/// Sliced axes are whole; the others are sharded like input.
SpmdRule SliceGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                            const std::vector<int64_t>& axes,
                            const std::vector<int64_t>& decrease_axis);
/// Sliced axes must be whole, as in slice.
SpmdRule StridedSliceInferSpmd(const TensorSpec& x, const std::vector<int>& axes,
                               const IntArray& starts, const IntArray& ends,
                               const IntArray& strides);
SpmdRule StridedSliceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                                   const std::vector<int>& axes, const IntArray& starts,
                                   const IntArray& ends, const IntArray& strides);
/// x keeps its sharding, along the sliced axes too: each rank writes the part of the slice that it
/// holds. value is therefore whole along the sliced axes, and sharded like x along the others.
SpmdRule SliceScatterInferSpmd(const TensorSpec& x, const TensorSpec& value,
                               const std::vector<int64_t>& axes,
                               const std::vector<int64_t>& decrease_axis);
/// New dims and dims that grow from size 1 are not split.
SpmdRule ExpandInferSpmd(const TensorSpec& x, const IntArray& shape);
/// Expands x to the shape of y. x follows the sharding of y.
SpmdRule ExpandAsInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// The same; if y is absent, expands to target_shape, as expand does.
SpmdRule ExpandToInferSpmd(const TensorSpec& x, const TensorSpec* y,
                           const std::vector<int64_t>& target_shape);
/// Dims that are repeated must be whole.
SpmdRule TileInferSpmd(const TensorSpec& x, const IntArray& repeat_times);
/// The axis must be whole; with `flatten` all of x must be.
SpmdRule CumsumInferSpmd(const TensorSpec& x, const Scalar& axis, bool flatten, bool exclusive,
                         bool reverse);

/// The output shape depends on data, so the inputs must be whole.
SpmdRule NonZeroInferSpmd(const TensorSpec& condition);
SpmdRule UniqueInferSpmd(const TensorSpec& x, bool return_index, bool return_inverse,
                         bool return_counts, const std::vector<int>& axis, DataType dtype);

}  // namespace phi::distributed
