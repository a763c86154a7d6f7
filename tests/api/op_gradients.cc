// Gradients of the calls in the tables of op_cases.h.
#include "tests/api/op_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/autograd/autograd.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/gaussian.h"

namespace phi::testing {

std::string op_of(const ParityCase& test) { return test.name.substr(0, test.name.find(' ')); }

bool is_differentiable(const ParityCase& test) {
  if (std::ranges::none_of(test.inputs, may_have_gradient)) return false;
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
         !recorded(test, with_gradients(test.inputs)).outputs.empty();
}

bool may_have_gradient(const Tensor& x) { return is_floating(x.dtype()) || is_complex(x.dtype()); }

TensorList with_gradients(const TensorList& inputs) {
  TensorList leaves;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (may_have_gradient(x)) leaves.back().set_requires_grad();
  }
  return leaves;
}

namespace {

Tensor cotangent(const Tensor& out, int seed) {
  const DataType dtype = real_part_of(out.dtype());
  const Tensor real = gaussian(out.shape(), 0.0f, 1.0f, seed, dtype);
  if (!is_complex(out.dtype())) return real;
  return complex(real, gaussian(out.shape(), 0.0f, 1.0f, seed + 40, dtype));
}

}  // namespace

Outputs recorded(const ParityCase& test, const TensorList& leaves) {
  Outputs result;
  for (const Tensor& out : test.call(leaves)) {
    if (!out.defined() || !out.requires_grad()) continue;
    result.cotangents.push_back(cotangent(out, 40 + static_cast<int>(result.outputs.size())));
    result.outputs.push_back(out);
  }
  return result;
}

TensorList gradients(const ParityCase& test, const TensorList& inputs) {
  const TensorList leaves = with_gradients(inputs);
  const Outputs recorded_outputs = recorded(test, leaves);
  EXPECT_FALSE(recorded_outputs.outputs.empty()) << test.name << " is not recorded";
  TensorList wanted;
  for (const Tensor& leaf : leaves) {
    if (leaf.requires_grad()) wanted.push_back(leaf);
  }
  return grad(recorded_outputs.outputs, wanted, recorded_outputs.cotangents);
}

}  // namespace phi::testing
