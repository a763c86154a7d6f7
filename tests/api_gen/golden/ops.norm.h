// Operator norm, and its gradients. Backward passes call these; users may too.
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
extern const OpDef norm;
extern const OpDef norm_grad;
}  // namespace ops

/// norm(x, scale, epsilon) -> out
/// Shapes     NormInferMeta
/// Placement  NormInferSpmd
/// Optional   scale
/// Source     ops.yaml
Tensor norm(const Tensor& x, const std::optional<Tensor>& scale = std::nullopt,
            float epsilon = 1e-5f);

/// norm_grad(x, scale, mean, out_grad, epsilon, centered) -> x_grad, scale_grad
/// Shapes     GeneralBinaryGradInferMeta
/// Placement  NormGradInferSpmd
/// Optional   scale, scale_grad
/// Wanted     gradients that are not requested are not computed and stay undefined
/// Source     backward.yaml
std::tuple<Tensor, Tensor> norm_grad(const Tensor& x, const std::optional<Tensor>& scale,
                                     const Tensor& mean, const Tensor& out_grad, float epsilon,
                                     bool centered = true, GradMask wanted = {});

/// The same with all outputs, also those that only a backward pass needs.
namespace intermediate {

/// norm(x, scale, epsilon) -> out, mean
/// Shapes     NormInferMeta
/// Placement  NormInferSpmd
/// Optional   scale
/// Source     ops.yaml
std::tuple<Tensor, Tensor> norm(const Tensor& x, const std::optional<Tensor>& scale = std::nullopt,
                                float epsilon = 1e-5f);

}  // namespace intermediate

}  // namespace phi
