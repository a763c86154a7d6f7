// Products in Einstein's notation: "ij,jk->ik" taken apart, for shapes, kernels and rules.
//
//   Equation::parse("ij,jk->ik", 2).output.before == "ac";
#pragma once

#include <string>
#include <vector>

namespace phi {

/// "ij,jk->ik" taken apart, its letters renamed to a, b, .. in the order in which they are
/// met. "..." stands for batch factors. Without "->" the output has the letters that occur once,
/// sorted.
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

}  // namespace phi
