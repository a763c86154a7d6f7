// Libraries of operators that are loaded: what they bring, what is refused, and what they do wrong.
#include "api/library/load_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "api/call/named_call.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/erfinv.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "api/library/op_library.h"
#include "api/rules/op_rule.h"
#include "api/testing/check_op.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorList call(const char* op, const TensorList& in) { return call_function(op, {{in[0]}}, {}); }
OpCase case_of(const char* op) {
  return {.name = op,
          .inputs = {gaussian({5, 4}, 0.0f, 1.0f, 3)},
          .call = [op](const TensorList& in) { return call(op, in); }};
}
std::vector<float> one_to_four(const char* op) {
  return call(op, {Tensor::from<float>({1, 2, 3, 4}, {2, 2})}).at(0).to_vector<float>();
}

// Tests of one process go from top to bottom: what is loaded stays.

TEST(LoadOps, OperatorsAreNotThereBefore) {
  EXPECT_THAT([] { one_to_four("t_cube"); }, ThrowsError(ErrorCode::kNotFound, "'t_cube'"));
}

TEST(LoadOps, AnUnknownFileIsAnError) {
  EXPECT_THAT([] { load_ops("no/such/libmy_ops.so"); },
              ThrowsError(ErrorCode::kNotFound, "no operator library 'no/such/libmy_ops.so'"));
}

TEST(LoadOps, AFileOfAnotherKindIsAnError) {
  const std::string path = ::testing::TempDir() + "/not_a_library.so";
  std::ofstream(path) << "text";
  EXPECT_THAT([&] { load_ops(path); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not an operator library"));
}

TEST(LoadOps, ALibraryOfOtherHeadersIsAnErrorBeforeItsCodeRuns) {
  std::ifstream in(T_FIRST_OPS, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string prefix = "autophi_abi_";
  for (size_t at = bytes.find(prefix); at != std::string::npos; at = bytes.find(prefix, at + 1)) {
    bytes[bytes.find('\0', at) - 1] = 'z';  // the last digit of the hash
  }
  const std::string path = ::testing::TempDir() + "/other_headers.so";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT([&] { load_ops(path); },
              ThrowsError(ErrorCode::kInvalidArgument, "was built against other headers (0_1_0_"));
  EXPECT_THAT([] { one_to_four("t_cube"); }, ThrowsError(ErrorCode::kNotFound, "'t_cube'"));
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

TEST(LoadOps, AFileThatCouldNotBeOpenedMayBeMended) {
  const std::string path = ::testing::TempDir() + "/cut_off.so";
  std::ofstream(path) << TEXT(AUTOPHI_ABI) << '\0';
  EXPECT_THAT([&] { load_ops(path); },
              ThrowsError(ErrorCode::kInvalidArgument, "cannot be loaded: "));
  std::ofstream(path) << "text";
  EXPECT_THAT([&] { load_ops(path); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not an operator library"));
}

TEST(LoadOps, BringsOperatorsRulesAndCalls) {
  const LoadedOps& loaded = load_ops(T_FIRST_OPS);
  EXPECT_EQ(loaded.name, "t_first_ops");
  EXPECT_THAT(loaded.ops, ElementsAre("t_cube", "t_row_sum", "t_reversed", "t_scaled",
                                      "t_multiples", "t_sum_of"));
  EXPECT_THAT(one_to_four("t_cube"), ElementsAre(1, 8, 27, 64));
  EXPECT_THAT(one_to_four("t_row_sum"), ElementsAre(3, 7));
  EXPECT_THAT(one_to_four("t_positive"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(rules::find("t_row_sum").rule(), "... n -> ...");
  EXPECT_STREQ(ops::find("t_cube").name, "t_cube");
}

TEST(LoadOps, SaysWhatEachFunctionTakes) {
  std::map<std::string, const OpSignature*> functions;
  for (const OpSignature& each : load_ops(T_FIRST_OPS).functions) functions[each.name] = &each;
  EXPECT_EQ(functions.size(), 9u);
  ASSERT_TRUE(functions.contains("t_cube_grad") && functions.contains("t_positive") &&
              functions.contains("t_scaled_"));
  const OpSignature& gradient = *functions["t_cube_grad"];
  ASSERT_EQ(gradient.tensors.size(), 2u);
  EXPECT_STREQ(gradient.tensors[1].name, "out_grad");
  EXPECT_THAT(gradient.outputs, ElementsAre(::testing::StrEq("x_grad")));
  const OpSignature& scaled = *functions["t_scaled_"];
  ASSERT_EQ(scaled.attributes.size(), 1u);
  EXPECT_STREQ(scaled.attributes[0].name, "factor");
  EXPECT_FALSE(scaled.attributes[0].by_default);
  EXPECT_EQ(functions["t_sum_of"]->tensors[1].kind, TensorKind::kList);
}

TEST(LoadOps, InplaceVariantsWriteToTheirArguments) {
  const Tensor x = Tensor::from<float>({1, 2}, {2});
  const std::vector<AttributeValue> factor = {3.0f};
  const TensorList out = call_function("t_scaled_", {{x}}, factor);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(same_tensor(out[0], x));
  EXPECT_THAT(x.to_vector<float>(), ElementsAre(3, 6));
}

TEST(LoadOps, OperatorsAndAttributesAreFoundByNamesOfOthers) {
  EXPECT_THAT(one_to_four("legacy_cube"), ElementsAre(1, 8, 27, 64));
  EXPECT_THAT(one_to_four("legacy_positive"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(rules::find("legacy_cube").name(), "t_cube");
  const Tensor x = full({2}, 3.0f);
  EXPECT_THAT(call_op("legacy_scaled", {{x}}, {{"Factor", 2.0}}).at(0).to_vector<float>(),
              ElementsAre(6, 6));
  EXPECT_THAT(
      [&] {
        call_op("t_cube", {{x}}, {{"Factor", 2.0}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "t_cube has no attribute 'Factor'"));
  EXPECT_THAT([] { one_to_four("theirs"); }, ThrowsError(ErrorCode::kNotFound, "'theirs'"));
}

TEST(LoadOps, ASecondTimeGivesTheSame) {
  EXPECT_EQ(&load_ops(T_FIRST_OPS), &load_ops(T_FIRST_OPS));
}

TEST(LoadOps, SpansOfOperatorsStayAsTheyWere) {
  const auto before = ops::all();
  const auto rules_before = rules::all();
  const size_t count = before.size();
  load_ops(T_SECOND_OPS);
  EXPECT_EQ(before.size(), count);
  EXPECT_EQ(ops::all().size(), count + 1);
  EXPECT_EQ(rules::all().size(), rules_before.size() + 1);
  EXPECT_EQ(rules_before.front().name(), rules::all().front().name());
}

TEST(LoadOps, TwoLibrariesLiveSideBySide) {
  load_ops(T_SECOND_OPS);
  EXPECT_THAT(one_to_four("t_halved"), ElementsAre(0.5, 1, 1.5, 2));
  EXPECT_THAT(one_to_four("t_cube"), ElementsAre(1, 8, 27, 64));
  std::vector<std::string> names;
  for (const LoadedOps& each : loaded_ops()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("t_first_ops", "t_second_ops"));
}

TEST(LoadOps, ANameThatIsTakenIsAnErrorAndChangesNothing) {
  const size_t count = ops::all().size();
  EXPECT_THAT([] { load_ops(T_SAME_OP); },
              ThrowsError(ErrorCode::kAlreadyExists, "the function 't_cube' already exists"));
  EXPECT_EQ(ops::all().size(), count);
  EXPECT_THAT(one_to_four("t_cube"), ElementsAre(1, 8, 27, 64));
}

TEST(LoadOps, AKernelThatIsTakenIsAnErrorAndChangesNothing) {
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([] { load_ops(T_SAME_KERNEL); },
                ThrowsError(ErrorCode::kAlreadyExists,
                            "libt_same_kernel.so: kernel 't_cube' for float32 on cpu and kernel "
                            "'t_cube' for float64 on cpu: already registered"));
  }
  EXPECT_THAT([] { one_to_four("t_other"); }, ThrowsError(ErrorCode::kNotFound, "'t_other'"));
  EXPECT_THAT(one_to_four("t_cube"), ElementsAre(1, 8, 27, 64));
}

// The core library knows that another library, which is not loaded, has a kernel of this name.
TEST(LoadOps, AKernelOfAKernelLibraryIsTaken) {
  EXPECT_THAT(
      [] { load_ops(T_SAME_HOME); },
      ThrowsError(ErrorCode::kAlreadyExists,
                  "libt_same_home.so: kernel 'erfinv' for float32 on cpu and kernel 'erfinv' "
                  "for float64 on cpu: already registered"));
  const Tensor x = Tensor::from<float>(std::vector<float>{0.5F}, {1});
  EXPECT_NEAR(erfinv(x).item(), 0.4769, 1e-4);
}

TEST(CheckOp, PassesWhatIsRight) {
  for (const char* op : {"t_cube", "t_row_sum", "t_reversed", "t_positive"}) {
    OpCase test = case_of(op);
    test.smooth = std::string(op) != "t_positive";
    const OpReport report = check_op(test);
    EXPECT_EQ(report.calls, 4 + 4 + 400) << op;
    if (std::string(op) == "t_cube") {
      EXPECT_EQ(report.gradient_calls, report.calls);
      EXPECT_EQ(report.differences, 20);
    }
  }
}

TEST(CheckOp, AListMayStandBeforeOtherOutputs) {
  const TensorList out =
      call_op("t_multiples", {{Tensor::from<float>({1, 2}, {1, 2})}}, {{"num", int64_t{2}}});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_THAT(out[1].to_vector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(out[2].to_vector<float>(), ElementsAre(3));
  check_op({.name = "t_multiples",
            .inputs = {gaussian({5, 4}, 0.0f, 1.0f, 3)},
            .call = [](const TensorList& in) {
              return call_op("t_multiples", {{in[0]}}, {{"num", int64_t{2}}});
            }});
}

TEST(CheckOp, AListMayBeLeftOut) {
  const Tensor x = full({2}, 3.0f);
  EXPECT_THAT(call_op("t_sum_of", {{x}, {}}).at(0).to_vector<float>(), ElementsAre(3, 3));
  EXPECT_THAT(call_op("t_sum_of", {{x}, {x, x}}).at(0).to_vector<float>(), ElementsAre(9, 9));
  for (const size_t others : {0, 1}) {
    check_op({.name = "t_sum_of",
              .inputs = TensorList(1 + others, gaussian({5, 4}, 0.0f, 1.0f, 3)),
              .call = [](const TensorList& in) {
                return call_op("t_sum_of", {{in[0]}, TensorList(in.begin() + 1, in.end())});
              }});
  }
}

TEST(CheckOp, NamesWhatIsUnsound) {
  load_ops(T_FAULTY_OPS);
  EXPECT_THAT([] { check_op(case_of("t_unsound")); },
              ThrowsError(ErrorCode::kInternal, "t_unsound [S"));
}

// The product of two sums is not the sum of products, unless all parts but one are zero.
TEST(CheckOp, NamesAProductOfPartialSums) {
  load_ops(T_FAULTY_OPS);
  const Tensor x = gaussian({5, 4}, 0.0f, 1.0f, 3), y = gaussian({5, 4}, 0.0f, 1.0f, 4);
  const auto product = [](const TensorList& in) {
    return call_op("t_product_of_parts", {{in[0]}, {in[1]}});
  };
  OpCase test{.name = "t_product_of_parts", .inputs = {x, y}, .call = product};
  EXPECT_THAT([&] { check_op(test); },
              ThrowsError(ErrorCode::kInternal, "t_product_of_parts [P(sum)] [P(sum)]"));
  test.partial = false;
  EXPECT_TRUE(try_op(test).failures.empty());
}

// Parts add up to the value without rounding: what is right stays right in every dtype.
TEST(CheckOp, PartialSumsOfOperatorsThatAreRightPass) {
  for (const DataType dtype :
       {DataType::FLOAT16, DataType::BFLOAT16, DataType::FLOAT32, DataType::FLOAT64}) {
    Tensor x = gaussian({5, 4}, 0.0f, 1.0f, 3, dtype);
    x = concat({x, full({1, 4}, 0.0f, dtype), full({1, 4}, 0.5f, dtype)}, 0);
    const double tolerance =
        dtype == DataType::FLOAT16 || dtype == DataType::BFLOAT16 ? 0.02 : 1e-5;
    const auto check = [&](const char* name, const TensorList& inputs, auto call) {
      const OpReport report = check_op(
          {.name = name, .inputs = inputs, .call = call, .tolerance = tolerance, .smooth = false},
          {.placements = 60});
      EXPECT_THAT(report.to_string(), HasSubstr(" on meshes agree with one process")) << name;
    };
    check("identity", {x}, [](const TensorList& in) { return TensorList{scale(in[0], 1.0f)}; });
    check("add", {x, x}, [](const TensorList& in) { return TensorList{add(in[0], in[1])}; });
    check("multiply", {x, x},
          [](const TensorList& in) { return TensorList{multiply(in[0], in[1])}; });
    check("sum", {x}, [](const TensorList& in) { return TensorList{sum(in[0], {0})}; });
    check("relu", {x}, [](const TensorList& in) { return TensorList{relu(in[0])}; });
  }
}

TEST(CheckOp, NamesARuleThatAnswersForOutputsThatAreNotThere) {
  load_ops(T_FAULTY_OPS);
  const OpReport report = try_op(case_of("t_liar"));
  ASSERT_FALSE(report.failures.empty());
  EXPECT_THAT(report.failures[0], HasSubstr("t_liar"));
  EXPECT_THAT(report.failures[0], HasSubstr("TwoOutputsInferSpmd"));
}

TEST(CheckOp, NamesAGradientThatIsWrong) {
  OpCase test{.name = "half a gradient", .inputs = {gaussian({3, 2}, 0.0f, 1.0f, 3)}};
  // What the difference sees and the gradient does not: a part that is detached.
  test.call = [](const TensorList& in) {
    return TensorList{add(square(in[0]), square(in[0].detach()))};
  };
  const OpReport report = try_op(test);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0],
              HasSubstr("half a gradient: the gradient of input 0 at element 0"));
}

TEST(CheckOp, ErrorsOfTheOperatorAreFailures) {
  OpCase test{.name = "bad shapes", .inputs = {full({3, 2}, 1.0f), full({3, 2}, 1.0f)}};
  test.call = [](const TensorList& in) { return TensorList{matmul(in[0], in[1])}; };
  EXPECT_THAT([&] { check_op(test); }, ThrowsError(ErrorCode::kInternal,
                                                   "bad shapes in one process: "
                                                   "[matmul]"));
}

}  // namespace
}  // namespace phi::testing
