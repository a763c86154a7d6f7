// Rules of ops that move elements: transpose, squeeze, split, slice, expand, ... Those of one
// tensor pass partial values on.
#pragma once

#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

SpmdRule TransposeInferSpmd(const TensorSpec& x, const std::vector<int>& perm);
/// Without axes all dims of size 1 go; axes of other sizes stay.
SpmdRule SqueezeInferSpmd(const TensorSpec& x, const IntArray& axis);
/// Axes are positions in the output, inserted in the order given.
SpmdRule UnsqueezeInferSpmd(const TensorSpec& x, const IntArray& axis);
/// The axis must be whole.
SpmdRule SplitInferSpmd(const TensorSpec& x, const IntArray& sections, const Scalar& axis);
SpmdRule SplitWithNumInferSpmd(const TensorSpec& x, int num, const Scalar& axis);
/// The axis must be whole; it goes, and there are as many outputs as it had elements.
SpmdRule UnbindInferSpmd(const TensorSpec& x, int axis);
/// Dims that are padded must be whole. `paddings` has two entries per dim: before and behind.
SpmdRule PadInferSpmd(const TensorSpec& x, const std::vector<int>& paddings,
                      const Scalar& pad_value);
SpmdRule PadGradInferSpmd(const TensorSpec& out_grad, const std::vector<int>& paddings,
                          const Scalar& pad_value);
/// Dims that are rolled must be whole; without axes all of x is rolled as one.
SpmdRule RollInferSpmd(const TensorSpec& x, const IntArray& shifts,
                       const std::vector<int64_t>& axis);
SpmdRule RollGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, const IntArray& shifts,
                           const std::vector<int64_t>& axis);
/// Sliced axes must be whole.
SpmdRule SliceInferSpmd(const TensorSpec& input, const std::vector<int64_t>& axes,
                        const IntArray& starts, const IntArray& ends,
                        const std::vector<int64_t>& infer_flags,
                        const std::vector<int64_t>& decrease_axis);
/// Sliced axes are whole; the others lie as input does.
SpmdRule SliceGradInferSpmd(const TensorSpec& input, const TensorSpec& out_grad,
                            const std::vector<int64_t>& axes,
                            const std::vector<int64_t>& decrease_axis);
/// As slice: sliced axes must be whole.
SpmdRule StridedSliceInferSpmd(const TensorSpec& x, const std::vector<int>& axes,
                               const IntArray& starts, const IntArray& ends,
                               const IntArray& strides);
SpmdRule StridedSliceGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                                   const std::vector<int>& axes, const IntArray& starts,
                                   const IntArray& ends, const IntArray& strides);
/// x stays as it lies, along the sliced axes too: each rank writes what it has of them, so that
/// value is whole there; along others it lies like x.
SpmdRule SliceScatterInferSpmd(const TensorSpec& x, const TensorSpec& value,
                               const std::vector<int64_t>& axes,
                               const std::vector<int64_t>& decrease_axis);
/// Dims that are new or grow from size 1 are not split.
SpmdRule ExpandInferSpmd(const TensorSpec& x, const IntArray& shape);
/// x to the shape of y. x follows y.
SpmdRule ExpandAsInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// The same; to target_shape, as expand, where y is absent.
SpmdRule ExpandToInferSpmd(const TensorSpec& x, const TensorSpec* y,
                           const std::vector<int64_t>& target_shape);
/// Dims that are repeated must be whole.
SpmdRule TileInferSpmd(const TensorSpec& x, const IntArray& repeat_times);
/// The axis must be whole; with `flatten` all of x.
SpmdRule CumsumInferSpmd(const TensorSpec& x, const Scalar& axis, bool flatten, bool exclusive,
                         bool reverse);

/// Ops whose output shape depends on data work on whole tensors.
SpmdRule NonZeroInferSpmd(const TensorSpec& condition);
SpmdRule UniqueInferSpmd(const TensorSpec& x, bool return_index, bool return_inverse,
                         bool return_counts, const std::vector<int>& axis, DataType dtype);

}  // namespace phi::distributed
