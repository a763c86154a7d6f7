// Gradients of the calls in the tables of op_cases.h.
#include "tests/api/op_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "phi/common/inexact.h"

namespace phi::testing {

bool is_differentiable(const ParityCase& test) {
  const auto inexact = [](const Tensor& x) { return is_inexact(x.dtype()); };
  if (std::ranges::none_of(test.inputs, inexact)) return false;
  return test.gradients && !track_outputs(test.call, with_gradients(test.inputs)).outputs.empty();
}

TensorList gradients(const ParityCase& test, const TensorList& inputs) {
  TensorList found = gradients(test.call, inputs);
  EXPECT_FALSE(found.empty()) << test.name << " is not recorded";
  return found;
}

}  // namespace phi::testing
