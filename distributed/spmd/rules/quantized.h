// Rules of products with weights of 8 bits.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// A column's elements, which share scales, stay together.
SpmdRule WeightQuantizeInferSpmd(const TensorSpec& x, int group_size);
SpmdRule WeightDequantizeInferSpmd(const TensorSpec& x, const TensorSpec& scale);
/// A matrix product. Where it is split along k out is Partial(sum); k is whole where there are
/// groups of elements, or a bias, which no part of a sum may add for itself.
SpmdRule WeightOnlyLinearInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                   const TensorSpec* bias, const TensorSpec& weight_scale);
SpmdRule WeightOnlyLinearGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                       const TensorSpec& weight_scale, const TensorSpec& out_grad);

}  // namespace phi::distributed
