// Parses einsum equations such as "ij,jk->ik", for the shape function, kernels and rule of einsum.
//
//   Equation::parse("ij,jk->ik", 2).output.before == "ac";
#pragma once

#include <string>
#include <vector>

namespace phi {

/// A parsed equation. Its letters are renamed to a, b, .. in the order of their first occurrence.
/// "..." stands for batch factors. Without "->" the output has the letters that occur once, sorted.
struct Equation {
  struct Subscripts {
    std::string before;  // letters before "..."; all letters if there is no "..."
    std::string after;
    bool ellipsis = false;
  };
  std::vector<Subscripts> inputs;
  Subscripts output;
  std::string repeated;  // letters that occur twice in one term, which select a diagonal

  /// Errors: InvalidArgument if the text is not a valid equation, or not one of `num_operands`
  /// operands.
  static Equation parse(const std::string& equation, size_t num_operands);
};

}  // namespace phi
