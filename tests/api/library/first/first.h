// What first.yaml names beside autophi's own.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/spmd/rule.h"
#include "phi/core/meta.h"

namespace phi {

/// x without its last dim.
TensorMeta FirstDimsInferMeta(const TensorMeta& x);

/// `num` like x, and the sum over x's last dim.
std::tuple<std::vector<TensorMeta>, TensorMeta> MultiplesInferMeta(const TensorMeta& x, int num);
TensorMeta SumOfInferMeta(const TensorMeta& x, std::span<const TensorMeta> others);

namespace distributed {
SpmdRule MultiplesInferSpmd(const TensorSpec& x, int num);
SpmdRule SumOfInferSpmd(const TensorSpec& x, std::span<const TensorSpec> others);
SpmdRule LastDimWholeInferSpmd(const TensorSpec& x);
}  // namespace distributed

namespace composite {
Tensor t_cube_grad(const Tensor& x, const Tensor& out_grad);
}  // namespace composite

}  // namespace phi
