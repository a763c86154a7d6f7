// Rules of ops that work on each element by itself, broadcasting included.
#pragma once

#include <span>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

SpmdRule ElementwiseUnaryInferSpmd(const TensorSpec& x);
/// The gradient lies as out_grad does; x follows.
SpmdRule ElementwiseUnaryGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad);
SpmdRule ElementwiseBinaryInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// As the binary rule; one operand may stay partial, as the product is linear in each.
SpmdRule MultiplyInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// A copy.
SpmdRule AssignInferSpmd(const TensorSpec& x);
SpmdRule WhereInferSpmd(const TensorSpec& condition, const TensorSpec& x, const TensorSpec& y);
/// prior_dist, of one size in each dim or 1, is added to what label is scaled to.
SpmdRule LabelSmoothInferSpmd(const TensorSpec& label, const TensorSpec* prior_dist, float epsilon);
SpmdRule LabelSmoothGradInferSpmd(const TensorSpec& out_grad, float epsilon);
/// Inputs that are all partial over a mesh dim are added as they are.
SpmdRule AddNInferSpmd(std::span<const TensorSpec> inputs);
/// silu(x) * y; without y, x holds both halves in its last dim, which then must be whole.
SpmdRule SwiGLUInferSpmd(const TensorSpec& x, const TensorSpec* y);
/// Gradients of x and y, placed alike; without y x's last dim is whole, as in the forward rule.
SpmdRule SwiGLUGradInferSpmd(const TensorSpec& x, const TensorSpec* y, const TensorSpec& out_grad);
/// Outputs: out and mask, both as x; the kernel draws by global index.
SpmdRule DropoutFwdInferSpmd(const TensorSpec& x);

}  // namespace phi::distributed
