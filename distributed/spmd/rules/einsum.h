// Sharding rules of einsum.
#pragma once

#include <span>
#include <string>

#include "distributed/spmd/rule.h"
#include "phi/common/equation.h"

namespace phi::distributed {

using phi::Equation;

/// Letters that the output lacks are summed: the output is Partial(sum) over the mesh dims that
/// split them. A letter that occurs twice in an operand must be whole.
SpmdRule EinsumInferSpmd(std::span<const TensorSpec> x, const std::string& equation);
/// Gradients of the operands. Each is Partial(sum) over the mesh dims that split letters it lacks.
SpmdRule EinsumGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad,
                             const std::string& equation);

}  // namespace phi::distributed
