// Gradients at complex numbers: the calls of the tables whose gradients are those of finite
// differences, with an imaginary part added to each floating input, wherever the operator takes
// complex numbers.
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/log.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "phi/core/op_def.h"
#include "tests/api/op_gradients.h"

namespace phi::testing {
namespace {

using ::testing::IsEmpty;
using Names = std::set<std::string>;

// Operators of complex numbers with a gradient that no call here reaches.
constexpr const char* kRing = "talks over a ring: tests/api/communication_test.cc";
constexpr const char* kFactors = "not smooth: tests/phi/kernels/linalg/complex_gradients_test.cc";
const std::map<std::string, std::string> kNotReached = {
    {"all_gather", kRing},
    {"all_to_all", kRing},
    {"broadcast", kRing},
    {"c_concat", kRing},
    {"c_identity", kRing},
    {"c_split", kRing},
    {"cholesky", kFactors},
    {"cholesky_solve", kFactors},
    {"eig", kFactors},
    {"eigh", kFactors},
    {"eigvalsh", kFactors},
    {"svd", kFactors},
    {"embedding_with_scaled_gradient", "its gradient is scaled"},
    {"fill_diagonal_tensor", "no gradient reaches y, as in the reference"},
    {"view_dtype", "bits of another dtype have no differences"}};

ParityCase made_complex(const ParityCase& test) {
  ParityCase result = test;
  int seed = 77;
  for (Tensor& x : result.inputs) {
    if (!is_floating(x.dtype())) continue;
    const Tensor imaginary = gaussian(x.shape(), 0.0f, 0.3f, seed++, DataType::FLOAT64);
    x = complex(cast(x, DataType::FLOAT64), imaginary);
  }
  return result;
}

bool takes_its_inputs(const ParityCase& test) {
  try {
    test.call(test.inputs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Of the smooth tables, those that can be called and differentiated.
std::vector<ParityCase> complex_cases(const OpTable& table) {
  std::vector<ParityCase> cases;
  for (const ParityCase& test : chosen_cases(table)) {
    ParityCase changed = made_complex(test);
    if (takes_its_inputs(changed) && is_differentiable(changed)) cases.push_back(changed);
  }
  return cases;
}

class ComplexGradients : public ::testing::TestWithParam<OpTable> {};

TEST_P(ComplexGradients, AgreeWithFiniteDifferences) {
  for (const ParityCase& test : complex_cases(GetParam())) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(compare_with_differences(test.call, test.inputs).wrong, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, ComplexGradients, ::testing::ValuesIn(smooth_tables()),
                         ::testing::PrintToStringParamName());

TEST(CompareWithDifferences, NoticesWhatIsWrongMissingOrNotANumber) {
  const TensorList inputs = {full({2}, 3.0), full({2}, 2.0)};
  const auto wrong = [&](const TensorFunction& call) {
    return compare_with_differences(call, inputs).wrong;
  };
  EXPECT_EQ(wrong([](const TensorList& in) { return TensorList{multiply(in[0], in[1])}; }), "");
  EXPECT_THAT(
      wrong([](const TensorList& in) { return TensorList{multiply(in[0], in[0].detach())}; }),
      ::testing::HasSubstr("the gradient of input 0 at element 0 is"));
  EXPECT_THAT(wrong([](const TensorList& in) { return TensorList{in[0].detach()}; }),
              ::testing::HasSubstr("no output depends on an input"));
  EXPECT_THAT(wrong([](const TensorList& in) { return TensorList{log(scale(in[0], -1.0))}; }),
              ::testing::HasSubstr("the gradient of input 0"));
}

// Of those with a gradient, the ones that take complex numbers.
Names operators_of_complex_numbers() {
  Names names;
  for (const auto& file : std::filesystem::directory_iterator(AUTOPHI_SOURCE_DIR "/yaml/ops")) {
    for (const YAML::Node& op : YAML::LoadFile(file.path())) {
      const auto name = op["op"].as<std::string>();
      if (!op["backward"] || !op["kernel"]) continue;
      if (ops::find(name).kernel.find(DeviceKind::CPU, DataType::COMPLEX128)) names.insert(name);
    }
  }
  return names;
}

TEST(ComplexGradients, ReachEveryOperatorOfComplexNumbers) {
  Names reached;
  for (const OpTable& table : smooth_tables()) {
    for (const ParityCase& test : complex_cases(table)) {
      reached.merge(ops_run([&] { test.call(test.inputs); }));
    }
  }
  Names missed;
  for (const std::string& op : operators_of_complex_numbers()) {
    if (reached.contains(op) == kNotReached.contains(op)) missed.insert(op);
  }
  EXPECT_THAT(missed, IsEmpty()) << "give it a smooth call in tests/api/ops, or a reason above";
  EXPECT_GT(reached.size(), 100u);
}

}  // namespace
}  // namespace phi::testing
