// Gradients of the calls in the tables of op_cases.h.
#pragma once

#include "api/testing/gradients.h"
#include "tests/api/op_cases.h"

namespace phi::testing {

/// False for ops that have no gradient, and where they are called on integers alone.
bool is_differentiable(const ParityCase& test);

/// The gradients of the floating and complex inputs, by the engine; a case that leads back to none
/// of them is a failure.
TensorList gradients(const ParityCase& test, const TensorList& inputs);

}  // namespace phi::testing
