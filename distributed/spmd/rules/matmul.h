// Rules of the matrix product and its gradients.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x [..., m, k] (or [..., k, m] transposed) times y [..., k, n]; a 1-D operand is a vector of k.
/// Errors: InvalidArgument for a scalar, or a transposed vector.
SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y);

/// x_grad is a sum over n, y_grad one over m, and each over the batch it was broadcast to: partial
/// where these are split. A mesh dim that splits several of m, n, k is kept for what most of x, y
/// and out_grad are split by; between equals rows and batch stay, and the weight is gathered.
SpmdRule MatmulGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                             bool transpose_x, bool transpose_y);

/// As x times y; the input that is added, by the ranks that have the first part of k, broadcasts.
SpmdRule AddmmInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y);
SpmdRule AddmmGradInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y,
                            const TensorSpec& out_grad);

/// A chain of matrices; inner extents that are split make the output partial.
SpmdRule MultiDotInferSpmd(std::span<const TensorSpec> x);
SpmdRule MultiDotGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad);

}  // namespace phi::distributed
