// Gradients of every differentiable op: against finite differences in float64, and distributed
// against a single process for every placement, ranks outside the mesh included.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "api/autograd/autograd.h"
#include "api/generated/ops/cast.h"
#include "tests/api/op_gradients.h"

DEFINE_uint32(seed, 20261121, "draws the placements on 2-D meshes");

namespace phi::testing {
namespace {

using List = std::vector<Tensor>;

DataType in_double(DataType dtype) {
  return is_complex(dtype) ? DataType::COMPLEX128 : is_floating(dtype) ? DataType::FLOAT64 : dtype;
}

// The numbers of a tensor of double precision; of complex ones the two parts of each.
std::span<const double> numbers(const Tensor& x) {
  const auto* first = static_cast<const double*>(x.dense().raw_data());
  return {first, x.dense().nbytes() / sizeof(double)};
}

double objective(const ParityCase& test, const List& inputs, const Outputs& at) {
  const NoGrad no_grad;
  double total = 0;
  size_t k = 0;
  for (const Tensor& out : test.call(inputs)) {
    if (k == at.outputs.size()) break;
    if (!out.defined() || out.shape() != at.outputs[k].shape() ||
        out.dtype() != at.outputs[k].dtype()) {
      continue;
    }
    const auto values = numbers(out);
    const auto weights = numbers(at.cotangents[k++]);
    for (size_t i = 0; i < values.size(); ++i) total += values[i] * weights[i];
  }
  return total;
}

void expect_finite_differences(const ParityCase& test) {
  SCOPED_TRACE(test.name);
  List inputs;
  for (const Tensor& x : test.inputs) {
    inputs.push_back(may_have_gradient(x) ? cast(x, in_double(x.dtype())) : x);
  }
  const List leaves = with_gradients(inputs);
  Outputs at = recorded(test, leaves);
  if (op_of(test) == "cross_entropy" || op_of(test) == "cross_entropy_soft") {
    // The loss alone has a gradient, and it is the second output.
    const auto call = test.call;
    ParityCase loss = test;
    loss.call = [call](const List& in) { return List{call(in)[1]}; };
    loss.name = "loss of " + test.name;
    return expect_finite_differences(loss);
  }
  const List grads = gradients(test, inputs);
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!leaves[i].requires_grad()) continue;
    const Tensor& grad = grads[next++];
    if (!grad.defined()) continue;  // soft labels, say
    List moved = inputs;
    moved[i] = Tensor(inputs[i].dense().clone());
    auto* values = static_cast<double*>(moved[i].dense().mutable_raw_data());
    const auto computed = numbers(grad);
    ASSERT_EQ(grad.shape(), inputs[i].shape());
    ASSERT_EQ(grad.dtype(), inputs[i].dtype());
    for (size_t n = 0; n < computed.size(); ++n) {
      constexpr double kStep = 1e-6;
      const double kept = values[n];
      values[n] = kept + kStep;
      const double above = objective(test, moved, at);
      values[n] = kept - kStep;
      const double below = objective(test, moved, at);
      values[n] = kept;
      const double expected = (above - below) / (2 * kStep);
      ASSERT_NEAR(computed[n], expected, 1e-6 + 1e-6 * std::abs(expected))
          << "input " << i << ", element " << n;
    }
  }
}

// The same tables, with the gradients as results.
std::vector<ParityCase> of_gradients(const std::vector<ParityCase>& cases) {
  std::vector<ParityCase> out;
  for (const ParityCase& test : cases) {
    if (!is_differentiable(test)) continue;
    ParityCase gradient = test;
    gradient.name = test.name + "_grad";
    gradient.call = [test](const List& in) { return gradients(test, in); };
    out.push_back(std::move(gradient));
  }
  return out;
}

class Gradients : public ::testing::TestWithParam<OpTable> {};
class SmoothGradients : public Gradients {};

TEST_P(SmoothGradients, AgreeWithFiniteDifferences) {
  for (const ParityCase& test : chosen_cases(GetParam())) {
    if (is_differentiable(test)) expect_finite_differences(test);
  }
}

TEST_P(Gradients, AreTheSameDistributed) {
  expect_parity_everywhere(of_gradients(chosen_cases(GetParam())), FLAGS_seed, GetParam().sampling);
}

std::vector<OpTable> smooth_tables() {
  std::vector<OpTable> smooth;
  std::ranges::copy_if(op_tables(), std::back_inserter(smooth), &OpTable::is_smooth);
  return smooth;
}
std::string name_of_table(const ::testing::TestParamInfo<OpTable>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tables, Gradients, ::testing::ValuesIn(op_tables()), name_of_table);
INSTANTIATE_TEST_SUITE_P(Tables, SmoothGradients, ::testing::ValuesIn(smooth_tables()),
                         name_of_table);

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
