// Sharding rules of ops that read or write slices: at one index, at indices along an axis, or
// between bounds with steps.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// The axis must be whole and is removed.
SpmdRule IndexSelectStridedInferSpmd(const TensorSpec& x, int axis);
SpmdRule IndexSelectStridedGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

/// The same as take_along_axis along axis 1.
SpmdRule IndexSampleInferSpmd(const TensorSpec& x, const TensorSpec& index);

/// The axis and index are whole; other dims of x and add_value are sharded alike.
SpmdRule IndexAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                           const TensorSpec& add_value, int axis);
/// Gradients of x and add_value.
SpmdRule IndexAddGradInferSpmd(const TensorSpec& index, const TensorSpec& add_value,
                               const TensorSpec& out_grad, int axis);

/// x keeps its sharding, along the axes of the slice too: each rank writes the part of the slice
/// that it holds. values is therefore whole along these axes and where it is broadcast, and sharded
/// like x elsewhere.
SpmdRule SetValueWithTensorInferSpmd(const TensorSpec& x, const TensorSpec& values,
                                     const std::vector<int64_t>& axes,
                                     const std::vector<int64_t>& decrease_axes,
                                     const std::vector<int64_t>& none_axes);
/// Gradients of x and values. That of values is Partial(sum) where x is split and values is whole.
SpmdRule SetValueWithTensorGradInferSpmd(const TensorSpec& values, const TensorSpec& out_grad,
                                         const std::vector<int64_t>& axes,
                                         const std::vector<int64_t>& decrease_axes,
                                         const std::vector<int64_t>& none_axes);

}  // namespace phi::distributed
