// Calls of records (op_records.h): refused ones say what is wrong, answers are those that are
// written out, under every placement too; all are captured, and run dry, as they run.
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/capture/program.h"
#include "api/testing/generate_tensor.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"
#include "tests/api/op_gradients.h"
#include "tests/api/op_records.h"
#include "tests/support/error_matchers.h"

DECLARE_string(op);

namespace phi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Refusals, SayWhatIsWrong) {
  for (const Refusal& refusal : refusals()) {
    if (!FLAGS_op.empty() && refusal.op != FLAGS_op) continue;
    SCOPED_TRACE(refusal.where + " " + refusal.op);
    try {
      refusal.call();
      ADD_FAILURE() << "the call is not refused";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(refusal.says));
    }
  }
}

TEST(Answers, AreThoseByHand) {
  constexpr uint32_t kSeed = 7;
  for (const Answer& answer : answers()) {
    SCOPED_TRACE(answer.test.name);
    const TensorList got = answer.test.call(answer.test.inputs);
    ASSERT_EQ(got.size(), answer.gives.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].meta().to_string(), answer.gives[i].meta().to_string());
      expect_same_values(got[i], answer.gives[i], 0.0);
    }
    expect_parity_everywhere({answer.test}, kSeed);
  }
}

class Rows : public ::testing::TestWithParam<OpTable> {};

bool has_known_shapes(const TensorList& outputs) {
  return std::ranges::all_of(outputs, [](const Tensor& x) { return x.defined(); });
}

// A program's result, or nothing where the operator's shapes depend on data, which cannot be
// captured.
std::optional<TensorList> run_as_program(const ParityCase& test) {
  try {
    return capture(test.call, test.inputs).run(test.inputs);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::AnyOf(HasSubstr("only its kernel finds"), HasSubstr("depends on data")));
    return std::nullopt;
  }
}

TEST_P(Rows, CapturedProgramsDoTheSame) {
  for (const ParityCase& test : chosen_cases(GetParam())) {
    SCOPED_TRACE(test.name);
    const TensorList expected = test.call(test.inputs);
    if (!has_known_shapes(expected)) continue;
    const auto got = run_as_program(test);
    if (!got) continue;
    ASSERT_EQ(got->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expect_same_values((*got)[i], expected[i], 0.0);
  }
}

// The metas of a dry call; nothing where they depend on data.
std::optional<std::vector<TensorMeta>> metas_of_dry_call(const ParityCase& test) {
  distributed::DryWorld world(0, 1);
  const distributed::World::Scope scope(world);
  std::vector<TensorMeta> metas;
  try {
    for (const Tensor& x : test.call(test.inputs)) metas.push_back(x.meta());
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::AnyOf(HasSubstr("only its kernel finds"), HasSubstr("depends on data")));
    return std::nullopt;
  }
  return metas;
}

TEST_P(Rows, DryRunsHaveTheSameMetas) {
  for (const ParityCase& test : chosen_cases(GetParam())) {
    SCOPED_TRACE(test.name);
    const TensorList expected = test.call(test.inputs);
    if (!has_known_shapes(expected)) continue;
    const auto metas = metas_of_dry_call(test);
    if (!metas) continue;
    ASSERT_EQ(metas->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ((*metas)[i].to_string(), expected[i].meta().to_string());
    }
  }
}

int64_t peak_of(const std::function<void()>& call) {
  RankContext rank;
  const RankContext::Scope scope(rank);
  call();
  return rank.memory()->stats(DeviceKind::CPU).peak;
}

int64_t planned_peak_of(const std::function<void()>& call) {
  distributed::DryWorld world(0, 1);
  const distributed::World::Scope scope(world);
  const MemoryLedger ledger(*world.rank_context().memory());
  call();
  return world.rank_context().memory()->planned().peak;
}

TEST_P(Rows, DryRunsPlanWhatTheCallHolds) {
  for (const ParityCase& test : chosen_cases(GetParam())) {
    SCOPED_TRACE(test.name);
    if (!has_known_shapes(test.call(test.inputs)) || !metas_of_dry_call(test)) continue;
    const auto call = [&] { test.call(test.inputs); };
    EXPECT_EQ(planned_peak_of(call), peak_of(call));
    if (!is_differentiable(test)) continue;
    const auto gradient = [&] { gradients(test, test.inputs); };
    EXPECT_EQ(planned_peak_of(gradient), peak_of(gradient)) << "of gradients";
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Rows, ::testing::ValuesIn(tables_of_records()),
                         [](const auto& info) { return info.param.name; });

TEST(DrawnTensor, IsWhatTheWordsSay) {
  EXPECT_THAT(generate_tensor("f64[2,2] values(1,2,3,4.5)", 1).to_vector<double>(),
              ElementsAre(1, 2, 3, 4.5));
  EXPECT_EQ(generate_tensor("c64[3]", 1).dtype(), DataType::COMPLEX64);
  EXPECT_EQ(generate_tensor("i64[] below(7)", 1).shape(), Dims());
  EXPECT_THAT([] { generate_tensor("f32[3] strangely", 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not a distribution"));
  EXPECT_THAT([] { generate_tensor("f32 3", 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "is not a tensor such as"));
  EXPECT_THAT([] { generate_tensor("f32[3] values(1)", 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "1 values are listed for 3"));
}

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
