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

/// Floating and complex tensors.
bool may_have_gradient(const Tensor& x);

/// The inputs as leaves, of which those that may have a gradient require one.
TensorList with_gradients(const TensorList& inputs);

/// The outputs that lead back to the inputs, and a fixed gradient for each.
struct Outputs {
  TensorList outputs;
  TensorList cotangents;
};
Outputs recorded(const ParityCase& test, const TensorList& leaves);

/// The gradients of these inputs, by the engine. Of a complex one: that of its real parts and, as
/// imaginary parts, that of its imaginary parts (as PyTorch and Paddle define it).
TensorList gradients(const ParityCase& test, const TensorList& inputs);

}  // namespace phi::testing
