// Rules of optimizers' steps on lists and numbers, of statistics over a split batch, and of
// attention over sequences of unequal length.
#include <gtest/gtest.h>

#include <vector>

#include "distributed/spmd/rules.h"

namespace phi::distributed {
namespace {

const auto R = Replicate();

const TensorDistAttr* attr(std::initializer_list<Placement> placements) {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return TensorDistAttr::get(mesh, placements);
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::initializer_list<Placement> placements) {
  return {shape, attr(placements)};
}

TEST(AdamRule, StatesFollowParamAndNumbersAreWhole) {
  const auto param = spec({8, 6}, {Shard(0), Shard(1)});
  const auto grad = spec({8, 6}, {Partial(), R});
  const auto number = spec({1}, {Partial(), R});
  const auto r =
      AdamInferSpmd(param, grad, number, grad, grad, nullptr, number, number, nullptr).forward();
  for (int i : {0, 1, 3, 4}) EXPECT_EQ(r.inputs[i], param.attr) << i;
  for (int i : {2, 6, 7}) EXPECT_EQ(r.inputs[i], attr({R, R})) << i;
  EXPECT_EQ(r.inputs[5], nullptr);
  for (int i : {0, 1, 2}) EXPECT_EQ(r.outputs[i], param.attr) << i;
  for (int i : {4, 5}) EXPECT_EQ(r.outputs[i], attr({R, R})) << i;
  EXPECT_EQ(r.outputs[3], nullptr);
  EXPECT_EQ(r.outputs[6], nullptr);
}

TEST(MergedRules, EachParamDecidesForItsOwn) {
  const std::vector param = {spec({8, 6}, {Shard(0), R}), spec({4}, {Partial(), Shard(0)})};
  const std::vector grad = {spec({8, 6}, {R, Shard(1)}), spec({4}, {R, R})};
  const std::vector rate = {spec({1}, {R, R})};
  const auto r = MergedMomentumInferSpmd(param, grad, grad, rate, {}).forward();
  ASSERT_EQ(r.inputs.size(), 7u);
  ASSERT_EQ(r.outputs.size(), 4u);
  for (int i : {0, 2, 4}) EXPECT_EQ(r.inputs[i], attr({Shard(0), R})) << i;
  for (int i : {1, 3, 5}) EXPECT_EQ(r.inputs[i], attr({R, Shard(0)})) << i;
  EXPECT_EQ(r.inputs[6], attr({R, R}));
  for (int i : {0, 2}) EXPECT_EQ(r.outputs[i], attr({Shard(0), R})) << i;
  for (int i : {1, 3}) EXPECT_EQ(r.outputs[i], attr({R, Shard(0)})) << i;
}

TEST(MergedRules, WhatIsFoundInPartsIsKnownToAll) {
  const std::vector x = {spec({8, 6}, {Shard(0), Shard(1)}), spec({4}, {R, R})};
  const auto r = CheckFiniteAndUnscaleInferSpmd(x, spec({1}, {R, R})).forward();
  EXPECT_EQ(r.inputs[0], x[0].attr);
  EXPECT_EQ(r.outputs[0], x[0].attr);
  EXPECT_EQ(r.outputs[2], attr({R, R}));
  const auto numerics = CheckNumericsInferSpmd(x[0]).forward();
  EXPECT_EQ(numerics.outputs[0], attr({R, R}));
  EXPECT_EQ(numerics.outputs[1], attr({R, R}));
}

TEST(BatchStatisticsRule, TheBatchMayBeSplitAndStatisticsAreWhole) {
  const auto x = spec({8, 4, 5}, {Shard(0), Shard(1)});
  const auto channels = spec({4}, {R, R});
  const auto r =
      BatchStatisticsInferSpmd(x, channels, channels, &channels, nullptr, "NCL").forward();
  EXPECT_EQ(r.inputs[0], x.attr);
  EXPECT_EQ(r.inputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(r.inputs[4], nullptr);
  EXPECT_EQ(r.outputs[0], x.attr);
  for (int i : {1, 2, 3, 4}) EXPECT_EQ(r.outputs[i], attr({R, Shard(0)})) << i;
  const auto grad =
      BatchStatisticsGradInferSpmd(x, &channels, nullptr, channels, channels, x, "NCL").forward();
  EXPECT_EQ(grad.outputs[0], x.attr);
  EXPECT_EQ(grad.outputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(grad.outputs[2], nullptr);
}

TEST(AffineChannelGradRule, GradientsOfScalesArePartialWhereImagesAreSplit) {
  const auto x = spec({8, 4, 5}, {Shard(0), Shard(1)});
  const auto channels = spec({4}, {R, R});
  const auto r = AffineChannelGradInferSpmd(x, channels, channels, x, "NCHW").forward();
  EXPECT_EQ(r.outputs[0], x.attr);
  EXPECT_EQ(r.outputs[1], attr({Partial(), Shard(0)}));
}

TEST(BilinearRule, ContractedDimsSplitWithoutABias) {
  const auto x = spec({8, 4}, {Shard(0), Shard(1)});
  const auto y = spec({8, 5}, {R, R});
  const auto weight = spec({3, 4, 5}, {R, R});
  const auto bias = spec({1, 3}, {R, R});
  EXPECT_EQ(BilinearInferSpmd(x, y, weight, nullptr).forward().outputs[0],
            attr({Shard(0), Partial()}));
  EXPECT_EQ(BilinearInferSpmd(x, y, weight, &bias).forward().outputs[0], attr({Shard(0), R}));
}

TEST(UnpaddedAttentionRule, HeadsMayBeSplitWhereNoGroupIsCut) {
  const auto q = spec({9, 8, 4}, {Shard(0), Shard(1)});
  const auto k = spec({9, 4, 4}, {R, R});
  const auto r = FlashAttnUnpaddedInferSpmd(q, k, k).forward();
  for (const TensorDistAttr* in : r.inputs) EXPECT_EQ(in, attr({R, Shard(1)}));
  EXPECT_EQ(r.outputs[2], attr({R, Shard(0)}));
  EXPECT_EQ(r.outputs[3], attr({R, R}));
  const auto few = spec({9, 2, 4}, {R, R});
  EXPECT_EQ(FlashAttnUnpaddedInferSpmd(q, few, few).forward().outputs[0], attr({R, R}));
}

}  // namespace
}  // namespace phi::distributed
