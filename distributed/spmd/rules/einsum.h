// Rules of products in Einstein's notation.
#pragma once

#include <span>
#include <string>

#include "distributed/spmd/rule.h"
#include "phi/common/equation.h"

namespace phi::distributed {

using phi::Equation;

/// Letters that the output lacks are summed: it is Partial(sum) over the mesh dims that split them.
/// A letter that one operand has twice must be whole.
SpmdRule EinsumInferSpmd(std::span<const TensorSpec> x, const std::string& equation);
/// Gradients of the operands, each Partial(sum) where a letter is split that it lacks.
SpmdRule EinsumGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad,
                             const std::string& equation);

}  // namespace phi::distributed
