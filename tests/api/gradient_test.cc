// Gradients of every differentiable op: against finite differences in float64, and distributed
// against a single process for every placement, ranks outside the mesh included.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include "tests/api/op_gradients.h"

DEFINE_uint32(seed, 20261121, "seed of the drawn placements on 2-D meshes");

namespace phi::testing {
namespace {

using List = std::vector<Tensor>;

// The loss alone has a gradient, and it is the second output.
bool gives_loss_second(const ParityCase& test) { return test.name.starts_with("cross_entropy"); }

void expect_finite_differences(const ParityCase& test) {
  SCOPED_TRACE(test.name);
  const TensorFunction loss = [&test](const List& in) { return List{test.call(in)[1]}; };
  const DifferenceCheck slopes =
      compare_with_differences(gives_loss_second(test) ? loss : test.call, test.inputs);
  EXPECT_EQ(slopes.wrong, "");
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
  expect_parity_everywhere(of_gradients(chosen_cases(GetParam())), FLAGS_seed);
}

TEST_P(Gradients, AreTheSameInEveryDtype) {
  if (FLAGS_place == "cpu") GTEST_SKIP() << "a device is compared with the CPU";
  for (ParityCase test : chosen_cases(GetParam())) {
    if (!is_differentiable(test)) continue;
    // Whole numbers have none.
    test.call = [call = test.call](const List& in) { return gradients(call, in); };
    expect_same_in_every_dtype(test);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Gradients, ::testing::ValuesIn(op_tables()),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Tables, SmoothGradients, ::testing::ValuesIn(smooth_tables()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
