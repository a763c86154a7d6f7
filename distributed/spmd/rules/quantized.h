// Sharding rules of matmuls with 8-bit weights.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// The elements of a column share scales, so columns must be whole.
SpmdRule WeightQuantizeInferSpmd(const TensorSpec& x, int group_size);
SpmdRule WeightDequantizeInferSpmd(const TensorSpec& x, const TensorSpec& scale);
/// A matmul. out is Partial(sum) where k is split. k must be whole with groups of elements, and
/// with a bias, which each partial sum would add.
SpmdRule WeightOnlyLinearInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                   const TensorSpec* bias, const TensorSpec& weight_scale);
SpmdRule WeightOnlyLinearGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                       const TensorSpec& weight_scale, const TensorSpec& out_grad);

}  // namespace phi::distributed
