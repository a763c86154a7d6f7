// Form: one kind of statement, as the C++ expression that it is. The expression is compiled, and
// kept as text, so that a printed program says what the interpreted one does.
#pragma once

#include <string_view>
#include <vector>

#include "program.h"

namespace phi::testing::programs {

struct Form {
  /// What a statement of this form is beside a call that makes new tensors of others.
  enum Trait : unsigned {
    kWrites = 1,       // to its first argument, and makes nothing
    kReshapes = 2,     // its first argument, whose bytes stay
    kRough = 4,        // finite differences of it may lie
    kGivesList = 8,    // a TensorList, whatever its length
    kUpdates = 16,     // an optimizer's step, which writes to all arguments but the last
    kOnePlace = 32,    // the gradient does not go through it
    kUncaptured = 64,  // a captured program cannot have it
  };
  const char* name;
  const char* text;  // a.x(0), a.n(1), ... stand for parts of the statement
  TensorList (*run)(const Call& a);
  unsigned traits;

  bool is(Trait trait) const { return (traits & trait) != 0; }
  /// How many of its first arguments it writes to.
  size_t num_written(size_t num_args) const;
};

const std::vector<Form>& all_forms();
/// Errors: NotFound.
const Form* form(std::string_view name);

}  // namespace phi::testing::programs
