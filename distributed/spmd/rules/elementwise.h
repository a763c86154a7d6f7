// Sharding rules of elementwise ops, including broadcasts.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

SpmdRule ElementwiseUnaryInferSpmd(const TensorSpec& x);
/// The gradient is sharded like out_grad, and x follows.
SpmdRule ElementwiseUnaryGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad);
SpmdRule ElementwiseBinaryInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// The same as the binary rule. One operand may stay partial, because the result is linear in each.
SpmdRule MultiplyInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// A copy: every placement passes.
SpmdRule AssignInferSpmd(const TensorSpec& x);
SpmdRule WhereInferSpmd(const TensorSpec& condition, const TensorSpec& x, const TensorSpec& y);
/// prior_dist, whose dims have label's size or 1, is added to the scaled label.
SpmdRule LabelSmoothInferSpmd(const TensorSpec& label, const TensorSpec* prior_dist, float epsilon);
SpmdRule LabelSmoothGradInferSpmd(const TensorSpec& out_grad, float epsilon);
/// Inputs that are all partial over a mesh dim stay partial; the sum then is too.
SpmdRule AddNInferSpmd(std::span<const TensorSpec> inputs);
/// silu(x) * y; without y, x holds both halves in its last dim, which then must be whole.
SpmdRule SwiGLUInferSpmd(const TensorSpec& x, const TensorSpec* y);
/// Gradients of x and y, sharded alike. Without y the last dim of x is whole, as in the forward
/// rule.
SpmdRule SwiGLUGradInferSpmd(const TensorSpec& x, const TensorSpec* y, const TensorSpec& out_grad);
/// Outputs: out and mask, both sharded like x. The kernel draws by global index.
SpmdRule DropoutFwdInferSpmd(const TensorSpec& x);

}  // namespace phi::distributed
