// Notation: a factor declaration as text, the form that op YAML and the command line take.
//
//   "... m k, ... k n -> ... m n"     matmul; k is missing from the output and is summed
//   "... n!, n -> ... n"              n must be whole
//   "... h w -> ... ; max h w"        reduced by max
//
// Terms are separated by commas, dims by blanks: a letter, 1 or _ (see factors.h), `...` in front
// for batch dims. `!` after a letter makes the factor whole. After `;` a ReduceKind and the factors
// that it reduces.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

class Notation {
 public:
  /// Errors: InvalidArgument saying which part of `text` is not understood.
  static Notation parse(std::string_view text);

  /// The rule for these tensors, one per term. Errors: InvalidArgument for other numbers of tensors
  /// or dims.
  SpmdRule bind(std::span<const TensorSpec> inputs) const;

  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }

 private:
  struct Term {
    bool batch = false;
    std::string letters;
  };
  static Term parse_term(std::string_view text, std::string& whole);

  std::vector<Term> inputs_;
  std::vector<Term> outputs_;
  std::string whole_;
  std::string reduced_;
  ReduceKind kind_ = ReduceKind::kSum;
};

}  // namespace phi::distributed
