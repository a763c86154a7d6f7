// All operators as functions on Tensor.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi {

/// matmul(x, y, transpose_x, transpose_y) -> out
/// Shapes     MatmulInferMeta
/// Placement  MatmulInferSpmd
/// Source     ops.yaml
Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x = false, bool transpose_y = false);

/// relu(x) -> out
/// Shapes     UnchangedInferMeta
/// Placement  ElementwiseUnaryInferSpmd
/// Source     ops.yaml
Tensor relu(const Tensor& x);

/// relu(x) -> out
/// Inplace    `x` receives out; placements stay as they are
/// Shapes     UnchangedInferMeta
/// Placement  ElementwiseUnaryInferSpmd
/// Source     ops.yaml
Tensor& relu_(Tensor& x);

/// split(x, sections, axis) -> out
/// Shapes     SplitInferMeta
/// Placement  SplitInferSpmd
/// Source     ops.yaml
std::vector<Tensor> split(const Tensor& x, const IntArray& sections, const Scalar& axis = 0);

/// concat(x, axis) -> out
/// Shapes     ConcatInferMeta
/// Placement  inputs and outputs replicated
/// Source     ops.yaml
Tensor concat(const std::vector<Tensor>& x, const Scalar& axis = 0);

/// norm(x, scale, epsilon) -> out
/// Shapes     NormInferMeta
/// Placement  NormInferSpmd
/// Optional   scale
/// Source     ops.yaml
Tensor norm(const Tensor& x, const std::optional<Tensor>& scale = std::nullopt,
            float epsilon = 1e-5f);

/// nonzero(condition) -> out
/// Shapes     NonZeroInferMeta; what depends on data is found by the kernel
/// Placement  NonZeroInferSpmd
/// Source     ops.yaml
Tensor nonzero(const Tensor& condition);

/// reshape(x, shape) -> out
/// View       out shares the bytes of x
/// Shapes     ReshapeInferMeta
/// Placement  ReshapeInferSpmd
/// Source     ops.yaml
Tensor reshape(const Tensor& x, const IntArray& shape);

/// reshape(x, shape) -> out
/// Inplace    `x` receives out; the bytes stay where they are
/// Shapes     ReshapeInferMeta
/// Placement  ReshapeInferSpmd
/// Source     ops.yaml
Tensor& reshape_(Tensor& x, const IntArray& shape);

/// full(shape, value, dtype, place) -> out
/// Shapes     CreateInferMeta
/// Source     ops.yaml
Tensor full(const IntArray& shape, const Scalar& value, DataType dtype = DataType::FLOAT32,
            const Place& place = CPUPlace());

/// ones(shape, dtype, place) -> out
/// Calls      full(shape, 1, dtype, place)
/// Source     ops.yaml
Tensor ones(const IntArray& shape, DataType dtype = DataType::FLOAT32,
            const Place& place = CPUPlace());

/// momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out, master_param_out
/// Inplace    `param` receives param_out, `velocity` receives velocity_out, `master_param` receives
///            master_param_out; placements stay as they are
/// Shapes     MomentumInferMeta
/// Placement  MomentumInferSpmd
/// Optional   master_param, master_param_out
/// Source     ops.yaml
std::tuple<Tensor&, Tensor&, std::optional<Tensor>&> momentum_(Tensor& param, const Tensor& grad,
                                                               Tensor& velocity,
                                                               std::optional<Tensor>& master_param,
                                                               float mu);

/// bmm(x, y) -> out
/// Shapes     BmmInferMeta
/// Placement  ... m k, ... k n -> ... m n
/// Source     ops.yaml
Tensor bmm(const Tensor& x, const Tensor& y);

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
