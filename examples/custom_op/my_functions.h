// What my_ops.yaml names beside autophi's own: shape functions, placement rules, and a gradient
// made of operators.
#pragma once

#include <api/tensor/tensor.h>
#include <distributed/spmd/rule.h>
#include <phi/core/meta.h>

namespace phi {

/// x's meta. Errors: InvalidArgument if group_size does not divide x's last dim, or scale does not
/// have its extent.
TensorMeta GroupRmsNormInferMeta(const TensorMeta& x, const TensorMeta& scale, int group_size);

/// x without its last dim.
TensorMeta RowEnergyInferMeta(const TensorMeta& x);

namespace distributed {

/// The last dim is split between groups, so that each rank has whole ones; scale lies as it does.
SpmdRule GroupRmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, int group_size);
/// Rows that are split make the gradient of scale Partial(sum).
SpmdRule GroupRmsNormGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                   const TensorSpec& out_grad, int group_size);

}  // namespace distributed

namespace composite {

/// 2 x out_grad, row by row.
Tensor row_energy_grad(const Tensor& x, const Tensor& out_grad);

}  // namespace composite
}  // namespace phi
