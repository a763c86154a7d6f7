// What first.yaml names beside autophi's own.
#pragma once

#include "api/tensor/tensor.h"
#include "distributed/spmd/rule.h"
#include "phi/core/meta.h"

namespace phi {

/// x without its last dim.
TensorMeta FirstDimsInferMeta(const TensorMeta& x);

namespace distributed {
SpmdRule LastDimWholeInferSpmd(const TensorSpec& x);
}  // namespace distributed

namespace composite {
Tensor t_cube_grad(const Tensor& x, const Tensor& out_grad);
}  // namespace composite

}  // namespace phi
