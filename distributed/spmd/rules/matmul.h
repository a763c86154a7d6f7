// Sharding rules of matmul, its gradients, and ops built on it.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x [..., m, k] (or [..., k, m] transposed) times y [..., k, n]; a 1-D operand is a vector of k.
/// Transpose flags of 1-D operands are ignored. Errors: InvalidArgument for a scalar, and for sizes
/// that do not match.
SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y);

/// x_grad is a sum over n and y_grad a sum over m; both are sums over batch dims along which the
/// operand was broadcast. They are partial where these dims are split. A mesh dim that splits
/// several of m, n and k goes to the one that most of x, y and out_grad split by it. On a tie rows
/// and batch stay split, and the weight is gathered.
SpmdRule MatmulGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                             bool transpose_x, bool transpose_y);

/// The same as x times y. `input` broadcasts; the ranks that hold the first part of k add it.
SpmdRule AddmmInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y);
SpmdRule AddmmGradInferSpmd(const TensorSpec& input, const TensorSpec& x, const TensorSpec& y,
                            const TensorSpec& out_grad);

/// A chain of matrices. The output is partial where inner extents are split.
SpmdRule MultiDotInferSpmd(std::span<const TensorSpec> x);
SpmdRule MultiDotGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad);

}  // namespace phi::distributed
