// Programs of one operator call, and the results of our own execution.
#pragma once

#include <string>

#include "api/capture/ir.h"
#include "api/tensor/tensor.h"
#include "tests/api/rules_verification/captured_calls.h"

namespace phi::testing {

/// A program of the one call on mesh(dp=2,pp=2,tp=2). The placements of its inputs and outputs
/// depend on `name` alone.
struct CallProgram {
  ir::Body body;
  TensorList inputs;
  TensorList expected;  // our results
  /// Relative to the largest magnitude; for the least precise dtype of the call, and 0 for
  /// integers.
  double tolerance = 0;
};
CallProgram program_of(const CapturedCall& call, const std::string& name);

}  // namespace phi::testing
