// Gradients of the calls in the tables of op_cases.h.
#include "tests/api/op_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "phi/common/inexact.h"

namespace phi::testing {

std::string op_of(const ParityCase& test) { return test.name.substr(0, test.name.find(' ')); }

bool is_differentiable(const ParityCase& test) {
  const auto inexact = [](const Tensor& x) { return is_inexact(x.dtype()); };
  if (std::ranges::none_of(test.inputs, inexact)) return false;
  static const std::vector<std::string> without = {"full_like",
                                                   "equal",
                                                   "greater_equal",
                                                   "argmax",
                                                   "not_equal",
                                                   "greater_than",
                                                   "unique",
                                                   "cast_to_int64",
                                                   "sum_of_truncated",
                                                   "argmax_flat",
                                                   "one_hot",
                                                   "nonzero",
                                                   "flash_attention_with_kvcache",
                                                   "scaled_sgd_",
                                                   "scaled_momentum_",
                                                   "scaled_adamw_",
                                                   "adamw_with_master"};
  return test.gradients && std::ranges::find(without, op_of(test)) == without.end() &&
         !track_outputs(test.call, with_gradients(test.inputs)).outputs.empty();
}

TensorList gradients(const ParityCase& test, const TensorList& inputs) {
  TensorList found = gradients(test.call, inputs);
  EXPECT_FALSE(found.empty()) << test.name << " is not recorded";
  return found;
}

}  // namespace phi::testing
