// The report's own means: they find rules and kernels that are wrong, count moves that are not
// needed, take values apart so that no part gives them away, and note calls as they were made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/softmax.h"
#include "distributed/api.h"
#include "tests/api/op_records.h"
#include "tests/api/rules_verification/child_process.h"
#include "tests/api/rules_verification/needless_moves.h"
#include "tests/api/rules_verification/verdict.h"
#include "tests/api/rules_verification/verification_report.h"

namespace phi::testing {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::SpmdResult;
using distributed::TensorDistAttr;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Tensor normal(const Dims& shape) { return gaussian(shape, 0.0f, 1.0f, /*seed=*/1); }

// ---- made-up operators ----

// On one tensor, whose result has its shape and lies as the rule says that it should. `where`: of
// the part in the whole.
using Kernel = Tensor (*)(const Tensor& local, const Box& where);
using Allowed = bool (*)(const Placement& p);

const TensorDistAttr* kept(const TensorDistAttr* given, Allowed stays) {
  std::vector<Placement> placements(given->placements().begin(), given->placements().end());
  for (Placement& p : placements) {
    if (!stays(p)) p = Replicate();
  }
  return TensorDistAttr::get(given->mesh(), placements);
}

Trial made_up(const char* name, Kernel kernel, Allowed stays) {
  Trial trial;
  trial.name = name;
  trial.arguments = {{normal({5, 4})}};
  trial.slot_names = {"x"};
  trial.call = [kernel, stays](const Arguments& arguments) -> TensorList {
    const Tensor& x = arguments[0][0];
    if (!x.is_dist()) return {kernel(x, Box::whole(x.shape()))};
    const TensorDistAttr* required = kept(x.dist_attr(), stays);
    const Tensor moved = distributed::reshard(x, required->mesh(), required->placements());
    const auto coord = required->mesh().coord_of(distributed::rank());
    const Tensor out = kernel(moved.local(), local_box(x.shape(), *required, *coord));
    return {distributed::from_local(out, x.shape(), required->mesh(), required->placements())};
  };
  trial.infer = [stays](const ProcessMesh&, const InputLayout& layout) {
    SpmdResult answer;
    answer.inputs.push_back(kept(layout[0], stays));
    answer.outputs.push_back(kept(layout[0], stays));
    return answer;
  };
  return completed(std::move(trial));
}

Tensor plus_one(const Tensor& x, const Box&) { return scale(x, 1.0, 1.0); }
Tensor softmax_of_rows(const Tensor& x, const Box&) { return softmax(x); }
Tensor wrong_at_rank_1(const Tensor& x, const Box&) {
  return scale(x, 1.0, distributed::rank() == 1 ? 2 : 1);
}
Tensor refused(const Tensor&, const Box&) { throw errors::InvalidArgument("no. Never."); }
Tensor refused_at_rank_1(const Tensor& x, const Box&) {
  return distributed::rank() == 1 && x.shape() != Dims{5, 4} ? refused(x, {}) : x;
}

// The rows are numbered.
Tensor plus_its_first_row(const Tensor& x, const Box& where) {
  Tensor out = scale(x, 1.0);
  float* values = out.dense().mutable_data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    values[i] += static_cast<float>(where.offset[0] + i / where.size[1]);
  }
  return out;
}

bool splits(const Placement& p) { return p.is_shard(); }
bool splits_rows(const Placement& p) { return p.is_shard(0); }
bool splits_and_sums(const Placement& p) { return splits(p) || p == Partial(); }
bool all_that_may(const Placement& p) { return splits(p) || (p.is_partial() && p != Partial()); }

OperatorResult row_of(const char* name, Kernel kernel, Allowed stays) {
  return examined(made_up(name, kernel, stays), kSmallEffort, 1);
}

TEST(Examined, ASoundRule_IsRightOnEveryMesh) {
  const OperatorResult row = row_of("plus_one", plus_one, all_that_may);
  EXPECT_THAT(row.wrong, IsEmpty());
  EXPECT_EQ(row.incorrect, 0);
  // 7 ways to lie on one mesh dim.
  EXPECT_EQ(row.tried,
            4 * 7 + 3 * int64_t(kSmallEffort.two_dims) + int64_t(kSmallEffort.three_dims));
  EXPECT_EQ(row.moved, 1);  // the sum
  EXPECT_EQ(row.needless, 0);
}

TEST(Examined, AnUnsoundRule_IsIncorrect) {
  const OperatorResult sums = row_of("plus_one of sums", plus_one, splits_and_sums);
  EXPECT_GE(sums.incorrect, 4);  // P(sum) on each mesh of one dim at least
  EXPECT_THAT(sums.wrong, Contains(HasSubstr("P(sum)")));
  const OperatorResult rows = row_of("softmax of split rows", softmax_of_rows, splits);
  EXPECT_GE(rows.incorrect, 4);
  EXPECT_THAT(rows.wrong, Contains(HasSubstr("S1")));
  EXPECT_EQ(row_of("softmax", softmax_of_rows, splits_rows).incorrect, 0);
}

TEST(Examined, AKernelThatIsWrongOnOneRank_IsIncorrect) {
  const OperatorResult row = row_of("wrong_at_rank_1", wrong_at_rank_1, splits);
  EXPECT_EQ(row.incorrect, row.tried);
}

TEST(Examined, RefusalsAreCounted_AndThoseOfSomeRanksAreIncorrect) {
  Trial all = made_up("refused", plus_one, splits);
  all.call = [](const Arguments& arguments) -> TensorList {
    return {refused(arguments[0][0], {})};
  };
  const OperatorResult row = examined(all, kSmallEffort, 1);
  EXPECT_EQ(row.refused, row.tried);
  EXPECT_EQ(row.incorrect, 0);
  EXPECT_THAT(row.refusals, Contains(Pair("no", row.tried)));
  const OperatorResult some = row_of("refused_at_rank_1", refused_at_rank_1, splits);
  EXPECT_EQ(some.refused, 0);
  EXPECT_GT(some.incorrect, 0);
  EXPECT_THAT(some.wrong, Contains(HasSubstr("some ranks only refuse it")));
}

TEST(Examined, MovesThatAreNotNeeded_AreCounted) {
  // x + 1 of parts of a mean, a maximum or a minimum is x + 1 of these.
  const OperatorResult row = row_of("plus_one of whole tensors", plus_one, splits);
  EXPECT_EQ(row.moved, 4);
  EXPECT_EQ(row.needless, 3);
  EXPECT_THAT(row.moves, Contains(Pair("x P(max) to R (out: P(max))", 1)));
  EXPECT_TRUE(row.is_local);
  // Rows that need not be whole.
  EXPECT_THAT(row_of("plus_one of columns", plus_one, splits_rows).moves,
              Contains(Pair("x S1 to R (out: S1)", 1)));
}

TEST(Examined, AKernelThatAsksWhereItIs_IsNotLocal) {
  const OperatorResult row = row_of("plus_its_first_row", plus_its_first_row, splits_rows);
  EXPECT_EQ(row.incorrect, 0);
  EXPECT_FALSE(row.is_local);
}

TEST(RunInChild, AChildThatEnds_AnswersNothing_AndTheNextGoesOn) {
  const auto answers = run_in_child(4, [](size_t i) -> std::string {
    if (i == 1) std::abort();
    return "answer " + std::to_string(i);
  });
  EXPECT_THAT(answers, ::testing::ElementsAre("answer 0", std::nullopt, "answer 2", "answer 3"));
}

// ---- parts ----

TEST(Parts, PutTogether_AreTheValue) {
  const Whole floats = rounded(normal({5, 4}));
  const Whole integers = rounded(Tensor::from<int64_t>({3, 0, 6, 2, 5, 1}, {3, 2}));
  const Whole flags = rounded(
      Tensor(DenseTensor::from<bool>(std::span<const bool>(std::array{true, false, true}), {3})));
  for (const ProcessMesh& mesh : verification_meshes()) {
    for (const Whole* whole : {&floats, &integers, &flags}) {
      for (const TensorDistAttr* attr : layouts_of(*whole, mesh)) {
        std::vector<Part> parts;
        for (const Tensor& part : parts_of(*whole, *attr)) parts.push_back(part_of(part));
        ASSERT_EQ(difference(*whole, *attr, parts, 0), "") << attr->to_string();
        if (attr->has_partial() || parts.back().values.empty()) continue;
        parts.back().values[0] += 100;
        ASSERT_NE(difference(*whole, *attr, parts, 1e-3), "") << attr->to_string();
      }
    }
  }
}

TEST(Parts, NoneOfAPartialValue_IsTheValue) {
  const Whole whole = rounded(normal({5, 4}));
  for (const ReduceKind kind :
       {ReduceKind::kSum, ReduceKind::kAvg, ReduceKind::kMax, ReduceKind::kMin}) {
    const TensorDistAttr* attr = TensorDistAttr::get(ProcessMesh({2}), {Partial(kind)});
    for (const Tensor& part : parts_of(whole, *attr)) EXPECT_NE(part_of(part).values, whole.values);
  }
}

TEST(Parts, OfRareValues_AreNotPartial) {
  for (const float rare : {NAN, INFINITY, 1e30f, 1e-40f}) {
    const Whole whole = rounded(Tensor::from<float>({1.0f, rare}, {2}));
    EXPECT_FALSE(whole.is_ordinary);
    EXPECT_EQ(layouts_of(whole, ProcessMesh({2})).size(), 2u);
  }
}

// ---- layouts ----

TEST(Layouts, AreAllWhereThereAreFew_ElseSeeded) {
  const Trial trial = made_up("plus_one", plus_one, splits);
  std::mt19937 rng(1), same(1), other(2);
  const ProcessMesh pair({2}), grid({2, 2});
  EXPECT_EQ(layouts(trial, pair, 7, rng).size(), 7u);
  // 7 x 7, and two mesh dims of one tensor dim the other way round.
  EXPECT_EQ(layouts(trial, grid, 100, rng).size(), 51u);
  rng.seed(1);
  const auto drawn = layouts(trial, grid, 20, rng);
  EXPECT_EQ(drawn.size(), 20u);
  EXPECT_EQ(std::set<InputLayout>(drawn.begin(), drawn.end()).size(), 20u);
  EXPECT_EQ(layouts(trial, grid, 20, same), drawn);
  EXPECT_NE(layouts(trial, grid, 20, other), drawn);
}

// ---- notes ----

TEST(CapturedCalls, AreThoseOfTheTables_AsTheyWereMade) {
  const auto products = [] { return cases_of_records({"matmul/matmul"}); };
  const auto steps = [] { return cases_of_records({"optimizer/scaled_sgd_"}); };
  const auto calls = captured_calls({{"Products", products}, {"Steps", steps}});
  const auto named = [&](std::string_view name) {
    std::vector<const CapturedCall*> found;
    for (const CapturedCall& call : calls) {
      if (name == call.op->name) found.push_back(&call);
    }
    return found;
  };
  EXPECT_EQ(named("matmul").size(), products().size());
  EXPECT_EQ(named("matmul_grad").size(), products().size());
  ASSERT_EQ(named("scaled_sgd_").size(), 1u);
  const CapturedCall& sgd = *named("scaled_sgd_")[0];
  // Before it was written to, and with what is absent in its place.
  const Tensor weights = steps()[0].inputs[0];
  EXPECT_TRUE(std::ranges::equal(sgd.arguments[0][0].values<float>(), weights.values<float>()));
  ASSERT_EQ(sgd.arguments.size(), 5u);
  EXPECT_FALSE(sgd.arguments[2][0].defined());
  EXPECT_EQ(captured_calls({{"Products", products}, {"Products", products}}).size(),
            captured_calls({{"Products", products}}).size());
}

}  // namespace
}  // namespace phi::testing
