// Rules of ops that read or write slices: at one index, at indices along an axis, and those that
// bounds and steps name.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// The axis must be whole, and goes.
SpmdRule IndexSelectStridedInferSpmd(const TensorSpec& x, int axis);
SpmdRule IndexSelectStridedGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

/// As take_along_axis along axis 1.
SpmdRule IndexSampleInferSpmd(const TensorSpec& x, const TensorSpec& index);

/// The axis is whole, and so is index; other dims of x and add_value lie alike.
SpmdRule IndexAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                           const TensorSpec& add_value, int axis);
/// Gradients of x and add_value.
SpmdRule IndexAddGradInferSpmd(const TensorSpec& index, const TensorSpec& add_value,
                               const TensorSpec& out_grad, int axis);

/// x stays as it lies, along the axes of the slice too: each rank writes what it has of them, so
/// that values is whole there and where it is broadcast; along others it lies like x.
SpmdRule SetValueWithTensorInferSpmd(const TensorSpec& x, const TensorSpec& values,
                                     const std::vector<int64_t>& axes,
                                     const std::vector<int64_t>& decrease_axes,
                                     const std::vector<int64_t>& none_axes);
/// Gradients of x and values, the latter Partial(sum) where x is split and values whole.
SpmdRule SetValueWithTensorGradInferSpmd(const TensorSpec& values, const TensorSpec& out_grad,
                                         const std::vector<int64_t>& axes,
                                         const std::vector<int64_t>& decrease_axes,
                                         const std::vector<int64_t>& none_axes);

}  // namespace phi::distributed
