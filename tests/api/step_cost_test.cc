// What the launch of an op is estimated to cost, by its arrays, attributes and kernel.flops.
#include <gtest/gtest.h>

#include "api/generated/api.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/einsum.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/flash_attn_unpadded.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/multi_dot.h"
#include "api/generated/ops/slice.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/core/recorder.h"
#include "phi/tensor_api.h"

namespace phi {
namespace {

class Costs final : public Recorder {
 public:
  void add(std::unique_ptr<Step> step) override { costs_.push_back(step->cost()); }
  void moved(const ShownValue&, const ShownValue&) override {}
  void used(const Tensor&) override {}
  void alias(const Tensor&, const Tensor&) override {}
  /// Of the one step that was recorded since the last time.
  StepCost only() {
    EXPECT_EQ(costs_.size(), 1u);
    const StepCost cost = costs_.at(0);
    costs_.clear();
    return cost;
  }

 private:
  std::vector<StepCost> costs_;
};

class StepCosts : public ::testing::Test {
 protected:
  StepCosts() { world_.rank_context().record_steps_to(&costs_); }
  ~StepCosts() override { world_.rank_context().record_steps_to(nullptr); }

  static Tensor x(const Dims& dims) { return placeholder(dims, DataType::FLOAT32, CPUPlace()); }

  distributed::DryWorld world_{0, 2};
  distributed::World::Scope scope_{world_};
  Costs costs_;
};

TEST_F(StepCosts, ProductsCountEachMultiplication) {
  matmul(x({3, 4}), x({4, 5}));
  EXPECT_EQ(costs_.only().flops, 2 * 3 * 4 * 5);
  matmul(x({4, 3}), x({5, 4}), true, true);
  EXPECT_EQ(costs_.only().flops, 2 * 3 * 4 * 5);
  matmul(x({2, 7, 3, 4}), x({7, 4, 5}));
  EXPECT_EQ(costs_.only().flops, 2 * 2 * 7 * 3 * 4 * 5);
  matmul(x({4}), x({4, 5}));
  EXPECT_EQ(costs_.only().flops, 2 * 4 * 5);
  matmul_grad(x({2, 3, 4}), x({4, 5}), x({2, 3, 5}), false, false);
  EXPECT_EQ(costs_.only().flops, 2 * 2 * (2 * 3) * 4 * 5);
}

TEST_F(StepCosts, NothingIsMultipliedWhereThereIsNothing) {
  matmul(x({0, 4}), x({4, 5}));
  EXPECT_EQ(costs_.only().flops, 0);
}

TEST_F(StepCosts, AttentionCountsItsScores) {
  const Tensor q = x({2, 5, 4, 8}), k = x({2, 6, 2, 8}), v = x({2, 6, 2, 8});
  intermediate::flash_attention(q, k, v);
  EXPECT_EQ(costs_.only().flops, 2 * 2.0 * (2 * 5 * 4 * 8) * 6);
  intermediate::flash_attention(q, k, v, {}, {}, 0, /*causal=*/true);
  EXPECT_EQ(costs_.only().flops, 2 * 2.0 * (2 * 4 * 8) * (2 + 3 + 4 + 5 + 6));
}

// Two sequences of a mean length of 5 and 6.
TEST_F(StepCosts, UnpaddedAttentionCountsMeanLengths) {
  const Tensor q = x({10, 4, 8}), k = x({12, 2, 8}), v = x({12, 2, 8});
  const Tensor bounds = placeholder({3}, DataType::INT32, CPUPlace());
  intermediate::flash_attn_unpadded(q, k, v, bounds, bounds, {}, {}, 9, 9, 1, 0, /*causal=*/false);
  EXPECT_EQ(costs_.only().flops, 2 * 2.0 * (10 * 4 * 8) * 6);
  intermediate::flash_attn_unpadded(q, k, v, bounds, bounds, {}, {}, 9, 9, 1, 0, /*causal=*/true);
  EXPECT_EQ(costs_.only().flops, 2 * 2.0 * (2 * 4 * 8) * (2 + 3 + 4 + 5 + 6));
}

TEST_F(StepCosts, ListsAndTextsAreCounted) {
  einsum({x({3, 4}), x({4, 5}), x({5, 6})}, "ij,jk,kl->il");
  EXPECT_EQ(costs_.only().flops, 2 * 3 * 4 * 5 + 2 * 3 * 5 * 6);
  multi_dot({x({10, 100}), x({100, 5}), x({5, 50})});
  EXPECT_EQ(costs_.only().flops, 2 * (10 * 100 * 5 + 10 * 5 * 50));
}

TEST_F(StepCosts, GradientsThatAreNotWantedCostNothing) {
  matmul_grad(x({3, 4}), x({4, 5}), x({3, 5}), false, false, GradMask({1}));
  EXPECT_EQ(costs_.only().flops, 2 * 3 * 4 * 5);
}

TEST_F(StepCosts, OtherOpsCostTheirBytes) {
  add(x({3, 4}), x({3, 4}));
  const StepCost cost = costs_.only();
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes_read, 2 * 3 * 4 * sizeof(float));
  EXPECT_EQ(cost.bytes_written, 3 * 4 * sizeof(float));
}

TEST_F(StepCosts, WhatTheKernelIsNotGivenCostsNothing) {
  slice_grad(x({8, 4}), x({2, 4}), {0}, {1}, {3}, {});
  const StepCost cost = costs_.only();
  EXPECT_EQ(cost.bytes_read, 2 * 4 * sizeof(float));
  EXPECT_EQ(cost.bytes_written, 8 * 4 * sizeof(float));
}

// The local parts.
TEST_F(StepCosts, ARankCountsItsShare) {
  const distributed::ProcessMesh mesh({2});
  const auto w = distributed::placeholder({4, 6}, DataType::FLOAT32, mesh, {distributed::Shard(1)});
  matmul(x({3, 4}), w);
  EXPECT_EQ(costs_.only().flops, 2 * 3 * 4 * 3);
}

}  // namespace
}  // namespace phi
