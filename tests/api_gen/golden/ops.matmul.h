// Operator matmul, and its gradients. Backward passes call these; users may too.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi {

struct OpDef;
namespace ops {
extern const OpDef matmul;
extern const OpDef matmul_grad;
}  // namespace ops

/// matmul(x, y, transpose_x, transpose_y) -> out
/// Shapes     MatmulInferMeta
/// Placement  MatmulInferSpmd
/// Source     ops.yaml
Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x = false, bool transpose_y = false);

/// matmul_grad(x, y, out_grad, transpose_x, transpose_y) -> x_grad, y_grad
/// Shapes     GeneralBinaryGradInferMeta
/// Placement  MatmulGradInferSpmd
/// Wanted     gradients that are not requested are not computed and stay undefined
/// Source     backward.yaml
std::tuple<Tensor, Tensor> matmul_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                                       bool transpose_x, bool transpose_y, GradMask wanted = {});

}  // namespace phi
