// Gradients of the calls in the tables of op_cases.h.
#pragma once

#include <string>
#include <vector>

#include "tests/api/op_cases.h"

namespace phi::testing {

/// A case's name without what is special about it.
std::string op_of(const ParityCase& test);

/// False for ops that have no gradient, and where they are called on integers alone.
bool is_differentiable(const ParityCase& test);

/// The inputs as leaves, of which the floating ones require a gradient.
TensorList with_gradients(const TensorList& inputs);

/// The outputs that lead back to the inputs, and a fixed gradient for each.
struct Outputs {
  TensorList outputs;
  TensorList cotangents;
};
Outputs recorded(const ParityCase& test, const TensorList& leaves);

/// The gradients of the floating inputs, by the engine.
TensorList gradients(const ParityCase& test, const TensorList& inputs);

}  // namespace phi::testing
