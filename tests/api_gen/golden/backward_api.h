// The gradients of operators as functions on Tensor. Backward passes call them; so may users.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi {

/// matmul_grad(x, y, out_grad, transpose_x, transpose_y) -> x_grad, y_grad
/// Shapes     GeneralBinaryGradInferMeta
/// Placement  MatmulGradInferSpmd
/// Wanted     gradients that are not wanted are not computed and stay undefined
/// Source     backward.yaml
std::tuple<Tensor, Tensor> matmul_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                                       bool transpose_x, bool transpose_y, GradMask wanted = {});

/// relu_grad(out, out_grad) -> x_grad
/// Shapes     UnchangedInferMeta
/// Placement  ElementwiseUnaryGradInferSpmd
/// Source     backward.yaml
Tensor relu_grad(const Tensor& out, const Tensor& out_grad);

/// relu_double_grad(out, grad_x_grad) -> grad_out_grad
/// Shapes     UnchangedInferMeta
/// Placement  ElementwiseUnaryGradInferSpmd
/// Source     backward.yaml
Tensor relu_double_grad(const Tensor& out, const Tensor& grad_x_grad);

/// split_grad(out_grad, axis) -> x_grad
/// Calls      concat(out_grad, axis)
/// Source     backward.yaml
Tensor split_grad(const std::vector<Tensor>& out_grad, const Scalar& axis);

/// concat_grad(x, out_grad, axis) -> x_grad
/// Calls      composite::concat_grad(x, out_grad, axis)
/// Source     backward.yaml
std::vector<Tensor> concat_grad(const std::vector<Tensor>& x, const Tensor& out_grad,
                                const Scalar& axis);

/// norm_grad(x, scale, mean, out_grad, epsilon, centered) -> x_grad, scale_grad
/// Shapes     GeneralBinaryGradInferMeta
/// Placement  NormGradInferSpmd
/// Optional   scale, scale_grad
/// Wanted     gradients that are not wanted are not computed and stay undefined
/// Source     backward.yaml
std::tuple<Tensor, Tensor> norm_grad(const Tensor& x, const std::optional<Tensor>& scale,
                                     const Tensor& mean, const Tensor& out_grad, float epsilon,
                                     bool centered = true, GradMask wanted = {});

/// reshape_grad(x, out_grad) -> x_grad
/// Calls      reshape(out_grad, x.shape())
/// Source     backward.yaml
Tensor reshape_grad(const Tensor& x, const Tensor& out_grad);

/// bmm_grad(x, y, out_grad) -> x_grad, y_grad
/// Calls      composite::bmm_grad(x, y, out_grad, wanted)
/// Wanted     gradients that are not wanted are not computed and stay undefined
/// Source     backward.yaml
std::tuple<Tensor, Tensor> bmm_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                                    GradMask wanted = {});

}  // namespace phi
