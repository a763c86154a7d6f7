// Rules of products in Einstein's notation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// "ij,jk->ik" taken apart, each letter a factor of the rule. "..." stands for batch factors.
/// Without
/// "->" the output has the letters that occur once, sorted.
struct Equation {
  struct Term {
    std::string before;  // letters before "...", all of them where there is none
    std::string after;
    bool ellipsis = false;
  };
  std::vector<Term> inputs;
  Term output;
  std::string repeated;  // letters that one term has twice: its diagonal

  /// Errors: InvalidArgument for what is no equation, or of another number of operands.
  static Equation parse(const std::string& equation, size_t num_operands);
};

/// Letters that the output lacks are summed: it is Partial(sum) over the mesh dims that split them.
/// A letter that one operand has twice must be whole.
SpmdRule EinsumInferSpmd(std::span<const TensorSpec> x, const std::string& equation);
/// Gradients of the operands, each Partial(sum) where a letter is split that it lacks.
SpmdRule EinsumGradInferSpmd(std::span<const TensorSpec> x, const TensorSpec& out_grad,
                             const std::string& equation);

}  // namespace phi::distributed
