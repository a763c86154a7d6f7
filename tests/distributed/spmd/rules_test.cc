// What ops rely on at run time, where rules go beyond the recorded cases, and their messages.
#include "distributed/spmd/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto R = Replicate();

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

const TensorDistAttr* attr(std::initializer_list<Placement> placements) {
  return TensorDistAttr::get(mesh(), placements);
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::initializer_list<Placement> placements) {
  return {shape, attr(placements)};
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

TEST(Rules, SayWhatTensorsTheyCannotTake) {
  const auto scalar = spec({}, {R, R}), vector = spec({4}, {R, R}), matrix = spec({4, 3}, {R, R});
  EXPECT_THAT(message_of([&] { Conv2dInferSpmd(matrix, matrix, {1}, {0}, "", {1}, 1, "NCHW"); }),
              HasSubstr("input [4,3] and filter [4,3] must have 4 dims."));
  EXPECT_THAT(message_of([&] { EinsumInferSpmd(std::vector{matrix}, "ij,jk->ik"); }),
              AllOf(HasSubstr("equation 'ij,jk->ik': "), HasSubstr("; write it as 'ij,jk->ik'.")));
  EXPECT_THAT(message_of([&] { GatherNdInferSpmd(vector, matrix); }),
              HasSubstr("index [4,3] addresses 3 dims, x has 1."));
  EXPECT_THAT(message_of([&] { ScatterInferSpmd(scalar, vector, vector, true); }),
              HasSubstr("x is a scalar; scatter writes rows."));
  EXPECT_THAT(
      message_of([&] {
        RollInferSpmd(matrix, {1, 2}, {0});
      }),
      HasSubstr("2 shifts and 1 axes are given; give one shift per axis, or one shift and no "
                "axis."));
}

TEST(Rules, MatmulContractedDimGivesWayToRows) {
  const auto x = spec({8, 6}, {Shard(0), R});
  const auto y = spec({6, 4}, {Shard(0), R});
  const auto r = MatmulInferSpmd(x, y, false, false).forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.inputs[1], attr({R, R}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), R}));
}

TEST(Rules, ZeroDimTensorsReduceOverTheirOnlyElement) {
  const auto x = spec({}, {R, R});
  for (const int64_t axis : {0, -1}) {
    EXPECT_EQ(ReductionSumInferSpmd(x, {axis}, false).forward().outputs[0], attr({R, R}));
    EXPECT_EQ(ArgMaxInferSpmd(x, axis, false, false).forward().outputs[0], attr({R, R}));
  }
  EXPECT_THAT(message_of([&] { ReductionSumInferSpmd(x, {1}, false); }, ErrorCode::kOutOfRange),
              HasSubstr("axis is 1"));
}

TEST(Rules, AnExtentOfZeroSplitsIntoAnyNumberOfParts) {
  const auto nothing = spec({0, 8}, {R, Shard(1)});
  const auto r = SplitWithNumInferSpmd(nothing, 3, 0).forward();
  ASSERT_EQ(r.outputs.size(), 3u);
  for (const auto* out : r.outputs) EXPECT_EQ(out, nothing.attr);
  const auto two = spec({2, 8}, {R, R});
  EXPECT_THAT(message_of([&] { SplitWithNumInferSpmd(two, 3, 0); }),
              HasSubstr("x [2,8] is split into 3 parts along axis 0"));
}

TEST(Rules, MatmulOfVectorsTakesNoNoteOfTransposition) {
  const auto x = spec({6}, {Shard(0), R});
  EXPECT_EQ(MatmulInferSpmd(x, x, true, true).forward().outputs[0],
            MatmulInferSpmd(x, x, false, false).forward().outputs[0]);
  const auto number = spec({}, {R, R});
  EXPECT_THAT(message_of([&] { MatmulInferSpmd(number, x, false, false); }),
              HasSubstr("x is [] and y is [6]; 1 dim or more is needed"));
}

TEST(Rules, MaxIsPartialMaxAndMeanIsPartialSum) {
  const auto x = spec({8, 6}, {Shard(0), R});
  EXPECT_EQ(ReductionMaxInferSpmd(x, {0}, false).forward().outputs[0],
            attr({Partial(ReduceKind::kMax), R}));
  EXPECT_EQ(ReductionMeanInferSpmd(x, {0}, false).forward().outputs[0], attr({Partial(), R}));
}

TEST(Rules, UnevenSplitsStay) {
  const auto x = spec({5, 3}, {Shard(0), Shard(1)});
  EXPECT_EQ(ElementwiseUnaryInferSpmd(x).forward().outputs[0], x.attr);
}

TEST(Rules, EmbeddingVocabularySplitIsPartialSumAlsoWithPadding) {
  const auto x = spec({8, 6}, {Shard(0), R});
  const auto weight = spec({100, 16}, {R, Shard(0)});
  EXPECT_EQ(EmbeddingInferSpmd(x, weight, 0, false).forward().outputs[0],
            attr({Shard(0), Partial()}));
}

TEST(Rules, CrossEntropyOverSplitClassesHasAWholeLoss) {
  const auto x = spec({8, 100}, {Shard(0), Shard(1)});
  const auto label = spec({8, 1}, {Shard(0), R});
  const auto r = CrossEntropyWithSoftmaxInferSpmd(x, label, false, true, true, -100, -1).forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.outputs[0], x.attr);
  EXPECT_EQ(r.outputs[1], attr({Shard(0), R}));
}

TEST(Rules, CrossEntropyMakesClassesWholeWhereItCannotCombineThem) {
  const auto x = spec({8, 100}, {Shard(0), Shard(1)});
  const auto label = spec({8, 1}, {Shard(0), R});
  const struct {
    const TensorSpec& label;
    bool soft_label, use_softmax;
  } rows[] = {{x, true, true}, {x, true, false}, {label, false, false}};
  for (const auto& row : rows) {
    const auto r = CrossEntropyWithSoftmaxInferSpmd(x, row.label, row.soft_label, row.use_softmax,
                                                    true, -100, -1)
                       .forward();
    for (const auto* in : r.inputs) EXPECT_EQ(in, attr({Shard(0), R}));
    for (const auto* out : r.outputs) EXPECT_EQ(out, attr({Shard(0), R}));
  }
  const auto columns = spec({100, 8}, {Shard(0), Shard(1)});
  const auto r =
      CrossEntropyWithSoftmaxInferSpmd(columns, columns, true, true, true, -100, 0).forward();
  for (const auto* in : r.inputs) EXPECT_EQ(in, attr({R, Shard(1)}));
}

TEST(Rules, AttentionSplitsHeadsButNoGroupOfThem) {
  const auto q = spec({2, 16, 8, 4}, {Shard(0), Shard(2)});
  const auto k4 = spec({2, 16, 4, 4}, {R, R});
  const auto k2 = spec({2, 16, 2, 4}, {R, R});
  const auto heads = [&](const TensorSpec& k) {
    return FlashAttentionInferSpmd(q, k, k, nullptr, nullptr, 0, true, false, true)
        .forward()
        .outputs[0];
  };
  EXPECT_EQ(heads(k4), q.attr);
  EXPECT_EQ(heads(k2), attr({Shard(0), R}));
}

TEST(Rules, SliceScatterLeavesXAndBringsTheValue) {
  const auto x = spec({8, 4, 6}, {Shard(0), Shard(1)});
  const auto value = spec({4, 3}, {Shard(1), R});
  const auto r = SliceScatterInferSpmd(x, value, {0, 2}, {0}).forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.inputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(r.outputs[0], x.attr);
}

TEST(Rules, ReshapeMovesASplitToTheHeadOfItsGroup) {
  const auto x = spec({8, 4, 6}, {Shard(0), Shard(1)});
  const auto r = ReshapeInferSpmd(x, {32, 6}).forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0, 0), Shard(0, 1)}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0, 0), Shard(0, 1)}));
}

// A dim of size 1 that has a counterpart at its place keeps its split; one that merges does not.
TEST(Rules, ReshapeKeepsTheSplitOfADimOfSizeOne) {
  const struct {
    Dims from;
    IntArray shape;
    int split;
    int kept_as;  // -1: given up
  } rows[] = {
      {{1, 6, 8}, {1, 6, 2, 4}, 0, 0}, {{1, 6, 2, 4}, {1, 6, 8}, 0, 0},
      {{6, 1, 8}, {2, 3, 1, 8}, 1, 2}, {{6, 8, 1}, {48, 1}, 2, 1},
      {{1, 1, 8}, {1, 1, 2, 4}, 1, 1}, {{6, 1, 8}, {48}, 1, -1},
      {{6, 1, 8}, {1, 48}, 1, -1},     {{1, 1, 8}, {1, 8}, 1, -1},
      {{6, 1, 4}, {3, 2, 4}, 1, -1},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.from.to_string() + " to " + row.shape.to_string());
    const auto r = ReshapeInferSpmd(spec(row.from, {Shard(row.split), R}), row.shape).forward();
    EXPECT_EQ(r.inputs[0], row.kept_as < 0 ? attr({R, R}) : attr({Shard(row.split), R}));
    EXPECT_EQ(r.outputs[0], row.kept_as < 0 ? attr({R, R}) : attr({Shard(row.kept_as), R}));
  }
  // Beside a split of a group.
  const auto r = ReshapeInferSpmd(spec({1, 8, 6}, {Shard(0), Shard(1)}), {1, 48}).forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0), Shard(1)}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), Shard(1)}));
}

TEST(Rules, ReshapeChecksTheNumberOfElements) {
  const auto x = spec({8, 4}, {R, R});
  EXPECT_THAT(message_of([&] {
                ReshapeInferSpmd(x, {5, 7});
              }),
              HasSubstr("x [8,4] has 32 elements, shape [5,7] has 35"));
}

TEST(Rules, AxisOutOfRangeSaysTheRange) {
  const auto x = spec({8, 4}, {R, R});
  EXPECT_THAT(message_of([&] { SoftmaxInferSpmd(x, 2); }, ErrorCode::kOutOfRange),
              HasSubstr("axis is 2, the tensor has 2 dims; use -2 to 1"));
}

TEST(Rules, AbsentTensorsAnswerNull) {
  const auto x = spec({8, 4}, {Shard(0), R});
  const auto r = LayerNormInferSpmd(x, nullptr, nullptr, 1e-5f, 1).forward();
  EXPECT_EQ(r.inputs.size(), 3u);
  EXPECT_EQ(r.inputs[1], nullptr);
  EXPECT_EQ(r.outputs[1], attr({Shard(0), R}));
}

TEST(Rules, ListElementsAreFlatInTheAnswer) {
  const TensorSpec x[] = {spec({8, 4}, {R, R}), spec({8, 2}, {R, R}), spec({8, 3}, {R, R})};
  const auto r = ConcatInferSpmd(x, 1).forward();
  EXPECT_EQ(r.inputs.size(), 3u);
  EXPECT_EQ(r.outputs.size(), 1u);
  EXPECT_EQ(SplitInferSpmd(x[0], {1, 3}, 1).forward().outputs.size(), 2u);
}

// The cost depends on numbers of dims, not of ranks.
TEST(Rules, LargeMeshGivesTheSameAnswer) {
  const ProcessMesh large({256, 256}, {"dp", "tp"});
  const TensorSpec x{{8, 6}, TensorDistAttr::get(large, {Shard(0), Shard(1)})};
  const TensorSpec y{{6, 4}, TensorDistAttr::get(large, {R, R})};
  const auto r = MatmulInferSpmd(x, y, false, false).forward();
  EXPECT_EQ(r.outputs[0], TensorDistAttr::get(large, {Shard(0), Partial()}));
}

TEST(Rules, WrongArgumentsAreNamed) {
  const auto x = spec({8, 4}, {R, R});
  const auto row = spec({8}, {R, R});
  const auto heads = spec({2, 8, 4, 6}, {R, R});
  const TensorSpec parts[] = {x, row};
  const struct {
    std::function<void()> call;
    const char* words;
  } cases[] = {
      {[&] { FlashAttentionInferSpmd(x, x, x, nullptr, nullptr, 0, false, false, false); },
       "q [8,4], k [8,4] and v [8,4] must be [batch, sequence, heads, head_dim]"},
      {[&] { FlashAttentionInferSpmd(heads, x, x, nullptr, nullptr, 0, false, false, false); },
       "q [2,8,4,6], k [8,4] and v [8,4] must be [batch, sequence, heads, head_dim]"},
      {[&] { ConcatInferSpmd(parts, 0); },
       "x contains [8,4] and [8]; use tensors with the same number of dims"},
      {[&] { GatherInferSpmd(x, x, 0); }, "index is [8,4], expected one dim or none"},
      {[&] {
         ReshapeInferSpmd(x, {0, 0, 0});
       },
       "copies dim 2, which x [8,4] lacks"},
      {[&] {
         ReshapeInferSpmd(x, {-1, -1});
       },
       "shape [-1,-1] has more than one -1"},
      {[&] {
         ReshapeInferSpmd(x, {32}).backward({&row, 1});
       },
       "one output of 32 elements"},
      {[&] { FlattenInferSpmd(x, 1, 0); }, "start_axis 1 is after stop_axis 0"},
      {[&] { SplitWithNumInferSpmd(x, 9, 0); }, "x [8,4] is split into 9 parts along axis 0"},
      {[&] { SplitWithNumInferSpmd(x, 0, 0); }, "x is split into 0 parts"},
      {[&] { TransposeInferSpmd(x, {0}); }, "perm has 1 entries, x is [8,4]; give one per dim"},
      {[&] { ExpandInferSpmd(x, {8}); }, "the shape [8] has fewer dims than x [8,4]"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(c.call, ThrowsError(ErrorCode::kInvalidArgument, c.words));
  }
}

// Every rule that names a factor twice: the sizes have to be one.
TEST(Rules, AFactorOfTwoSizesIsAnErrorOfEachRule) {
  const auto named = [](const char* name, const Dims& shape) {
    TensorSpec tensor = spec(shape, {R, R});
    tensor.name = name;
    return tensor;
  };
  const auto x = named("x", {4, 6});
  const auto y = named("y", {5, 6});
  const TensorSpec list[] = {x, y};
  const auto heads = named("q", {2, 8, 4, 6});
  const auto more = named("k", {3, 8, 4, 6});
  const auto ids = named("position_ids", {2, 7});
  const std::pair<std::function<void()>, const char*> rows[] = {
      {[&] { MatmulInferSpmd(x, y, true, false); }, "factor k is 4 in x [4,6] and 5 in y [5,6]"},
      {[&] { ElementwiseBinaryInferSpmd(x, y); }, "factor batch 1 is 4 in x"},
      {[&] { MultiplyInferSpmd(x, y); }, "factor batch 1 is 4 in x"},
      {[&] { WhereInferSpmd(x, x, y); }, "factor batch 1 is 4 in x"},
      {[&] { AddNInferSpmd(list); }, "factor a is 4 in x [4,6] and 5 in y [5,6]"},
      {[&] { SwiGLUInferSpmd(x, &y); }, "factor a is 4 in x [4,6] and 5 in y [5,6]"},
      {[&] { ElementwiseUnaryGradInferSpmd(x, y); }, "factor a is 4 in x"},
      {[&] { SoftmaxGradInferSpmd(x, y, 1); }, "factor a is 4 in x"},
      {[&] { SgdInferSpmd(x, y, nullptr); }, "factor a is 4 in x"},
      {[&] { SliceScatterInferSpmd(x, y, {1}, {}); }, "factor a is 4 in x [4,6] and 5 in y [5,6]"},
      {[&] { ExpandAsInferSpmd(x, y); }, "factor a is 4 in x [4,6] and 5 in y [5,6]"},
      {[&] { ReduceAsInferSpmd(x, y); }, "factor batch 1 is 4 in x"},
      {[&] { CrossEntropyWithSoftmaxInferSpmd(x, y, true, true, true, 0, -1); }, "factor a is 4"},
      {[&] {
         EmbeddingGradInferSpmd(x, y, named("out_grad", {4, 7, 6}));
       },
       "factor b is 6 in x [4,6] and 7 in out_grad [4,7,6]"},
      {[&] { LayerNormGradInferSpmd(x, nullptr, nullptr, named("mean", {5}), x, x, 1); },
       "factor a is 4 in x [4,6] and 5 in mean [5]"},
      {[&] { FlashAttentionInferSpmd(heads, more, more, nullptr, nullptr, 0, true, false, true); },
       "factor b is 2 in q [2,8,4,6] and 3 in k [3,8,4,6]"},
      {[&] {
         FusedRopeInferSpmd(heads, nullptr, nullptr, nullptr, nullptr, &ids, true, false, 1e4f);
       },
       "factor s is 8 in q [2,8,4,6] and 7 in position_ids [2,7]"},
  };
  for (const auto& [call, words] : rows) {
    EXPECT_THAT(call, ThrowsError(ErrorCode::kInvalidArgument, words));
  }
}

// Paddle's recorded rule of batch_norm, which the records have, does not take the layout.
TEST(Rules, BatchStatisticsFollowChannelsAndTheBatchMayBeSplit) {
  const auto x = spec({8, 4, 5}, {Shard(0), Shard(1)});
  const auto channels = spec({4}, {R, R});
  const auto r =
      BatchStatisticsInferSpmd(x, channels, channels, &channels, nullptr, "NCL").forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.inputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(r.inputs[4], nullptr);
  EXPECT_EQ(r.outputs[0], x.attr);
  for (int i : {1, 2, 3, 4}) EXPECT_EQ(r.outputs[i], attr({R, Shard(0)})) << i;
}

TEST(Rules, RotaryTablesMayBeLongerWherePositionsAreGiven) {
  const auto q = spec({2, 8, 4, 6}, {Shard(0), Shard(1)});
  const auto k = spec({2, 8, 2, 6}, {R, R});  // fewer heads
  const auto ids = spec({2, 8}, {R, R});
  for (const Dims& shape : {Dims{100, 6}, Dims{1, 100, 1, 6}}) {
    const auto table = spec(shape, {Shard(shape.ndim() - 1), Shard(shape.ndim() == 2 ? 0 : 1)});
    const auto r = FusedRopeInferSpmd(q, &k, nullptr, &table, &table, &ids, true, false, 1e4f);
    EXPECT_EQ(r.forward().inputs[3], attr({R, R}));
    EXPECT_EQ(r.forward().outputs[0], attr({Shard(0), R}));
    EXPECT_EQ(r.forward().outputs[1], attr({Shard(0), R}));
  }
}

}  // namespace
}  // namespace phi::distributed
