// The factor engine: declarations, policies, both directions, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "distributed/spmd/rules.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::initializer_list<Placement> placements) {
  return {shape, TensorDistAttr::get(mesh(), placements)};
}

const TensorDistAttr* attr(std::initializer_list<Placement> placements) {
  return TensorDistAttr::get(mesh(), placements);
}

std::string message_of(const std::function<void()>& f,
                       ErrorCode code = ErrorCode::kInvalidArgument) {
  try {
    f();
  } catch (const Error& error) {
    return words_of(error, code);
  }
  return "no error";
}

const auto R = Replicate();

TEST(Factors, ContractedFactorMakesOutputPartial) {
  const auto x = spec({8, 6}, {Shard(0), Shard(1)});
  const auto y = spec({6, 4}, {R, R});
  const auto r = Factors().input(x, "mk").input(y, "kn").output("mn").forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.inputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), Partial()}));
}

TEST(Factors, ReduceKindIsThatOfTheDeclaration) {
  const auto x = spec({8, 6}, {R, Shard(1)});
  const auto r = Factors().input(x, "ab").output("a").reduce("b", ReduceKind::kMax).forward();
  EXPECT_EQ(r.outputs[0], attr({R, Partial(ReduceKind::kMax)}));
}

TEST(Factors, WholeFactorIsNeverSplit) {
  const auto x = spec({8, 6}, {Shard(0), Shard(1)});
  const auto r = Factors().input(x, "ab").output("ab").whole("b").forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), R}));
}

TEST(Factors, DimsThatAnAttributeNamesAreNeverSplit) {
  const auto x = spec({8, 6, 4}, {Shard(0), Shard(2)});
  const auto scan = [&] {
    return Factors().input(x, Factors::batch(3), "").output(Factors::batch(3), "");
  };
  EXPECT_EQ(scan().whole_dims(0, -1).forward().outputs[0], attr({Shard(0), R}));
  EXPECT_EQ(scan().whole_dims(0, 0).forward().inputs[0], attr({R, Shard(2)}));
  EXPECT_EQ(scan().whole_dims(0, std::vector<int>{0, 2}).forward().outputs[0], attr({R, R}));
  EXPECT_EQ(scan().whole_dims(0, IntArray{-3}).forward().outputs[0], attr({R, Shard(2)}));
  EXPECT_EQ(scan().whole_dims(0, std::vector<int64_t>{}).forward().outputs[0], x.attr);
  const auto scalar = spec({}, {R, R});
  EXPECT_EQ(Factors().input(scalar, "").output("").whole_dims(0, -1).forward().outputs[0],
            scalar.attr);
  EXPECT_THAT(message_of([&] { scan().whole_dims(0, 3); }, ErrorCode::kOutOfRange),
              HasSubstr("axis is 3, the tensor has 3 dims; use -3 to 2"));
}

TEST(Factors, BatchDimOfSizeOneBroadcasts) {
  const auto x = spec({8, 1, 6}, {Shard(0), Shard(1)});
  const auto y = spec({4, 6}, {R, Shard(0)});
  const auto all = Factors::batch(3, 2);
  const auto r = Factors().input(x, all, "").input(y, all, "").output(all, "").forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.outputs[0]->placement(0), Shard(0));
}

TEST(Factors, OneMeshDimForTwoFactorsStaysWithTheFirstMet) {
  const auto x = spec({8, 6}, {Shard(1), R});
  const auto y = spec({8, 6}, {Shard(0), R});
  const auto r = Factors().input(x, "ab").input(y, "ab").output("ab").forward();
  EXPECT_EQ(r.outputs[0], attr({Shard(1), R}));
}

TEST(Factors, WhatTensorsDisagreeOnIsToldToThoseWhoAsk) {
  const auto x = spec({8, 6}, {Shard(0), R});
  const auto y = spec({8, 6}, {R, Shard(0)});
  const Factors rule = Factors().input(x, "ab").input(y, "ab").output("ab");
  Conflicts conflicts;
  EXPECT_EQ(rule.forward(&conflicts).outputs[0], attr({Shard(0), R}));
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].kind, Conflict::Kind::kPlacedDifferently);
  EXPECT_THAT(
      conflicts[0].text,
      HasSubstr("factor a is split over mesh dim 'dp' by one tensor and over mesh dim 'tp'"));
  const auto rows = spec({8, 6}, {Shard(0), R});
  const auto columns = spec({8, 6}, {Shard(1), R});
  conflicts.clear();
  Factors().input(rows, "ab").input(columns, "ab").output("ab").forward(&conflicts);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].kind, Conflict::Kind::kSharedMeshDim);
  EXPECT_EQ(conflicts[0].text, "factors a and b are both split over mesh dim 'dp'");
  const auto both = spec({8, 6}, {Shard(0), Shard(1)});
  conflicts.clear();
  Factors().input(both, "11").output("11").forward(&conflicts);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].kind, Conflict::Kind::kGivenUp);
  conflicts.clear();
  Factors().input(x, "ab").input(x, "ab").output("ab").forward(&conflicts);
  EXPECT_TRUE(conflicts.empty());
}

TEST(Factors, CoShardKeepsItsOrder) {
  const auto x = spec({8, 6}, {Shard(0, 1), Shard(0, 0)});
  const auto r = Factors().input(x, "ab").output("ba").forward();
  EXPECT_EQ(r.outputs[0], attr({Shard(1, 1), Shard(1, 0)}));
}

TEST(Factors, PartialFlowsOnlyWhereTheRuleSaysSo) {
  const auto x = spec({8}, {Partial(), R});
  const Factors rule = Factors().input(x, "a").output("a");
  EXPECT_EQ(rule.forward().outputs[0], attr({R, R}));
  EXPECT_EQ(Factors(rule).pass_partial(PartialFlow::kEvery, kLinearKinds).forward().outputs[0],
            x.attr);
  const auto max = spec({8}, {Partial(ReduceKind::kMax), R});
  const Factors linear = Factors().input(max, "a").output("a");
  EXPECT_EQ(Factors(linear).pass_partial(PartialFlow::kEvery, kLinearKinds).forward().outputs[0],
            attr({R, R}));
}

TEST(Factors, GroupsAreNotCut) {
  const auto q = spec({8, 6}, {R, Shard(1)});
  const auto k = spec({8, 2}, {R, R});
  const auto r = Factors().divides('h', 2).input(q, "ah").input(k, "ah").output("ah").forward();
  EXPECT_EQ(r.inputs[0], attr({R, R}));
}

TEST(Factors, BackwardInfersInputsFromOutputs) {
  const auto x = spec({8, 6}, {R, Shard(1)});
  const auto y = spec({6, 4}, {R, R});
  const auto out = spec({8, 4}, {Shard(0), Shard(1)});
  const auto r = MatmulInferSpmd(x, y, false, false).backward({&out, 1});
  EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.inputs[1], attr({R, Shard(1)}));
  EXPECT_EQ(r.outputs[0], out.attr);
}

TEST(Factors, BackwardChecksTheOutputs) {
  const auto x = spec({8, 6}, {R, R});
  const auto out = spec({8}, {R, R});
  const Factors rule = Factors().input(x, "ab").output("ab");
  EXPECT_THAT(message_of([&] {
                rule.backward({&out, 1});
              }),
              HasSubstr("output 0 has 1 dims [8], but the inputs imply 2 dims"));
  EXPECT_THAT(message_of([&] { rule.backward({}); }), HasSubstr("0 outputs are given"));
}

TEST(Factors, WrongLettersAndKindsAreNamed) {
  const auto x = spec({8, 6}, {R, R});
  EXPECT_THAT(message_of([&] { Factors().input(x, "aB"); }),
              HasSubstr("'B' is not a factor; use a letter a to z, 1 or _."));
  EXPECT_THAT(message_of([&] {
                Factors()
                    .input(x, "ab")
                    .output("")
                    .reduce("a", ReduceKind::kMax)
                    .reduce("b", ReduceKind::kMin);
              }),
              HasSubstr("one rule reduces by max and by min; at most one kind other than sum"));
}

TEST(Factors, WrongNumberOfDimsNamesTheInput) {
  auto x = spec({8, 6}, {R, R});
  EXPECT_THAT(message_of([&] { Factors().input(x, "abc"); }),
              HasSubstr("input 0 has 2 dims [8,6], expected 3 (factors 'abc')"));
  x.name = "x";
  EXPECT_THAT(message_of([&] { Factors().input(x, "abc"); }),
              HasSubstr("x has 2 dims [8,6], expected 3 (factors 'abc')"));
}

TEST(Factors, AFactorOfTwoSizesNamesBothArguments) {
  auto x = spec({4, 4}, {R, R});
  auto y = spec({5, 4}, {R, R});
  const auto product = [&] { Factors().input(x, "mk").input(y, "kn"); };
  EXPECT_EQ(
      message_of(product),
      "factor k is 4 in input 0 [4,4] and 5 in input 1 [5,4]; use tensors of equal size there.");
  x.name = "x";
  y.name = "y";
  EXPECT_EQ(message_of(product),
            "factor k is 4 in x [4,4] and 5 in y [5,4]; use tensors of equal size there.");
  EXPECT_THAT(message_of([&] { Factors().input(y, "aa"); }),
              HasSubstr("factor a is 5 in y [5,4] and 4 in y [5,4]"));
  const auto all = Factors::batch(2, 2);
  EXPECT_THAT(message_of([&] { Factors().input(x, all, "").input(y, all, ""); }),
              HasSubstr("factor batch 1 is 4 in x [4,4] and 5 in y [5,4]"));
}

TEST(Factors, SizesMayDifferWhereNothingIsShared) {
  const auto x = spec({4, 1, 6}, {R, R});
  const auto y = spec({3, 6}, {R, R});
  const auto unknown = spec({-1, 6}, {R, R});
  const auto all = Factors::batch(3, 2);
  Factors().input(x, all, "").input(y, all, "");           // size 1 broadcasts
  Factors().input(y, "1a").input(unknown, "1a");           // never split
  Factors().input(y, "_a").input(x, "_ba");                // not looked at
  Factors().input(y, "ba").input(unknown, "ba");           // may turn out to agree
  Factors().any_size("b").input(y, "ba").input(x, "cba");  // said to differ
}

}  // namespace
}  // namespace phi::distributed
