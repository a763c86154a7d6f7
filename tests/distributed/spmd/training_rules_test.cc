// Rules of a training step beyond the forward ops: gradients of normalisation, loss and attention,
// optimizer steps; and of attention with a cache.
#include <gtest/gtest.h>

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

TEST(LayerNormGradRule, WeightGradientsArePartialWhereRowsAreSplit) {
  const auto x = spec({8, 16, 32}, {Shard(0), Shard(1)});
  const auto weight = spec({32}, {R, R});
  const auto statistics = spec({8, 16}, {Shard(0), Shard(1)});
  const auto r =
      LayerNormGradInferSpmd(x, &weight, &weight, statistics, statistics, x, 2).forward();
  EXPECT_EQ(r.inputs[1], weight.attr);
  EXPECT_EQ(r.inputs[3], statistics.attr);
  EXPECT_EQ(r.outputs[0], x.attr);
  EXPECT_EQ(r.outputs[1], attr({Partial(), Partial()}));
  EXPECT_EQ(r.outputs[2], attr({Partial(), Partial()}));
}

TEST(LayerNormGradRule, NormalisedDimsAndWeightsBecomeWhole) {
  const auto x = spec({8, 32}, {Shard(0), Shard(1)});
  const auto weight = spec({32}, {R, Shard(0)});
  const auto statistics = spec({8}, {R, R});
  const auto out_grad = spec({8, 32}, {Partial(), R});
  const auto r =
      LayerNormGradInferSpmd(x, &weight, nullptr, statistics, statistics, out_grad, 1).forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.inputs[1], attr({R, R}));
  EXPECT_EQ(r.inputs[2], nullptr);
  EXPECT_EQ(r.inputs[3], attr({Shard(0), R}));
  EXPECT_EQ(r.inputs[5], attr({Shard(0), R}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.outputs[1], attr({Partial(), R}));
  EXPECT_EQ(r.outputs[2], nullptr);
}

TEST(RmsNormGradRule, ScaleGradientIsPartialWhereRowsAreSplit) {
  const auto x = spec({8, 16, 32}, {R, Shard(1)});
  const auto scale = spec({32}, {R, R});
  const auto r = RmsNormGradInferSpmd(x, scale, spec({8, 16}, {R, R}), x).forward();
  EXPECT_EQ(r.inputs[2], attr({R, Shard(1)}));
  EXPECT_EQ(r.outputs[0], x.attr);
  EXPECT_EQ(r.outputs[1], attr({R, Partial()}));
}

TEST(CrossEntropyGradRule, ClassesStaySplitForIndexLabels) {
  const auto softmax = spec({8, 100}, {Shard(0), Shard(1)});
  const auto loss_grad = spec({8, 1}, {Shard(0), R});
  for (const TensorSpec& label : {spec({8, 1}, {R, R}), spec({8}, {R, Shard(0)})}) {
    const auto r =
        CrossEntropyWithSoftmaxGradInferSpmd(label, softmax, loss_grad, false, true, -1).forward();
    EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
    EXPECT_EQ(r.inputs[1], softmax.attr);
    EXPECT_EQ(r.inputs[2], loss_grad.attr);
    EXPECT_EQ(r.outputs[0], softmax.attr);
  }
}

TEST(CrossEntropyGradRule, OtherwiseClassesAreWhole) {
  const auto softmax = spec({8, 100}, {Shard(0), Shard(1)});
  const auto label = spec({8, 1}, {R, R});
  const auto loss_grad = spec({8, 1}, {Partial(), R});
  const auto whole = attr({Shard(0), R});
  const auto soft =
      CrossEntropyWithSoftmaxGradInferSpmd(softmax, softmax, loss_grad, true, true, 1).forward();
  EXPECT_EQ(soft.inputs[0], whole);
  EXPECT_EQ(soft.inputs[2], whole);
  EXPECT_EQ(soft.outputs[0], whole);
  const auto given =
      CrossEntropyWithSoftmaxGradInferSpmd(label, softmax, loss_grad, false, false, 1).forward();
  EXPECT_EQ(given.outputs[0], whole);
}

// Labels that lack the class dim: the loss has it all the same.
TEST(CrossEntropyRule, LossKeepsTheClassDimWhereverItIs) {
  const auto x = spec({8, 10, 16}, {Shard(0), Shard(2)});
  const auto label = spec({8, 16}, {R, R});
  const auto r = CrossEntropyWithSoftmaxInferSpmd(x, label, false, true, true, -100, 1).forward();
  EXPECT_EQ(r.inputs[1], attr({Shard(0), Shard(1)}));
  EXPECT_EQ(r.outputs[1], attr({Shard(0), Shard(2)}));
}

TEST(FlashAttentionGradRule, LiesAsTheForwardOp) {
  const auto q = spec({4, 16, 8, 4}, {Shard(0), Shard(2)});
  const auto k = spec({4, 16, 4, 4}, {R, R});
  const auto lse = spec({4, 8, 16}, {R, R});
  const auto mask = spec({1, 8, 16, 16}, {R, R});
  const auto out_grad = spec({4, 16, 8, 4}, {Partial(), Shard(1)});
  const auto r = FlashAttentionGradInferSpmd(q, k, k, q, lse, nullptr, &mask, out_grad).forward();
  const auto split = attr({Shard(0), Shard(2)});
  for (int i : {0, 1, 2, 3, 7}) EXPECT_EQ(r.inputs[i], split) << i;
  EXPECT_EQ(r.inputs[4], attr({Shard(0), Shard(1)}));
  EXPECT_EQ(r.inputs[5], nullptr);
  EXPECT_EQ(r.inputs[6], attr({R, Shard(1)}));
  for (int i : {0, 1, 2}) EXPECT_EQ(r.outputs[i], split) << i;
}

TEST(FlashAttentionGradRule, NoGroupOfHeadsIsCut) {
  const auto q = spec({4, 16, 8, 4}, {R, Shard(2)});
  const auto k = spec({4, 16, 2, 4}, {R, R});
  const auto lse = spec({4, 8, 16}, {R, R});
  const auto r = FlashAttentionGradInferSpmd(q, k, k, q, lse, nullptr, nullptr, q).forward();
  EXPECT_EQ(r.outputs[0], attr({R, R}));
  EXPECT_EQ(r.outputs[1], attr({R, R}));
}

TEST(FlashAttentionWithKvcacheRule, CachesStayWhereTheyLie) {
  const auto q = spec({4, 1, 8, 4}, {R, R});
  const auto cache = spec({4, 64, 8, 4}, {Shard(0), Shard(2)});
  const auto lengths = spec({4}, {R, Shard(0)});
  const auto r = FlashAttentionWithKvcacheInferSpmd(q, q, q, cache, cache, lengths).forward();
  for (int i : {0, 1, 2, 3, 4}) EXPECT_EQ(r.inputs[i], cache.attr) << i;
  EXPECT_EQ(r.inputs[5], attr({Shard(0), R}));
  for (int i : {0, 1, 2}) EXPECT_EQ(r.outputs[i], cache.attr) << i;
}

TEST(FlashAttentionWithKvcacheRule, PositionsAreWholeAndNoGroupOfHeadsIsCut) {
  const auto q = spec({4, 3, 8, 4}, {Shard(1), Shard(2)});
  const auto k = spec({4, 3, 2, 4}, {R, R});
  const auto cache = spec({4, 64, 2, 4}, {Shard(1), R});
  const auto r =
      FlashAttentionWithKvcacheInferSpmd(q, k, k, cache, cache, spec({4}, {R, R})).forward();
  for (const TensorDistAttr* in : r.inputs) EXPECT_EQ(in, attr({R, R}));
  for (const TensorDistAttr* out : r.outputs) EXPECT_EQ(out, attr({R, R}));
}

TEST(OptimizerRules, ParamDecides) {
  const auto param = spec({8, 6}, {R, Shard(1)});
  const auto grad = spec({8, 6}, {Partial(), Shard(0)});
  const auto moment = spec({8, 6}, {Shard(0), R});
  const auto r = AdamwInferSpmd(param, grad, moment, moment, &moment).forward();
  ASSERT_EQ(r.inputs.size(), 5u);
  ASSERT_EQ(r.outputs.size(), 4u);
  for (const TensorDistAttr* in : r.inputs) EXPECT_EQ(in, param.attr);
  for (const TensorDistAttr* out : r.outputs) EXPECT_EQ(out, param.attr);
}

TEST(OptimizerRules, NoMasterIsAnsweredWithNull) {
  const auto param = spec({8}, {Shard(0), R});
  const auto sgd = SgdInferSpmd(param, param, nullptr).forward();
  EXPECT_EQ(sgd.inputs[2], nullptr);
  EXPECT_EQ(sgd.outputs[0], param.attr);
  EXPECT_EQ(sgd.outputs[1], nullptr);
  const auto momentum = MomentumInferSpmd(param, param, param, nullptr).forward();
  EXPECT_EQ(momentum.outputs[1], param.attr);
  EXPECT_EQ(momentum.outputs[2], nullptr);
}

}  // namespace
}  // namespace phi::distributed
