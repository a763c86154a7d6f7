// Placeholders, and ranks of dry runs: everything but bytes.
#include "api/tensor/placeholder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/nonzero.h"
#include "api/generated/ops/real.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/sum.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::CommOp;
using distributed::DryWorld;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::World;

constexpr DataType kFloat = DataType::FLOAT32;

int64_t held() { return memory_stats(CPUPlace()).current; }
MemoryStats planned() { return RankContext::current().memory()->planned(); }

TEST(Placeholder, HasAnIdentityAndNoBytes) {
  const int64_t before = held();
  const Tensor a = placeholder({1 << 20, 1 << 20}, kFloat, CPUPlace());
  const Tensor b = placeholder({1 << 20, 1 << 20}, kFloat, CPUPlace());
  EXPECT_EQ(a.shape(), (Dims{1 << 20, 1 << 20}));
  EXPECT_EQ(a.dtype(), kFloat);
  EXPECT_FALSE(a.initialized());
  EXPECT_EQ(a.nbytes_here(), 0u);
  EXPECT_EQ(held(), before);
  EXPECT_NE(a.dense().storage()->id(), b.dense().storage()->id());
}

TEST(Placeholder, SaysWhatItIsWhenItIsRead) {
  const Tensor x = placeholder({2, 3}, kFloat, CPUPlace());
  EXPECT_THAT(
      [&] { x.values<float>(); },
      ThrowsError(ErrorCode::kPreconditionNotMet,
                  "f32[2,3], made by placeholder, has no bytes on this rank: it represents a value "
                  "that does not exist. Pass a tensor with a value to the operator."));
  EXPECT_THAT([] { placeholder({-1}, kFloat, CPUPlace()); },
              ThrowsError(ErrorCode::kInvalidArgument, "extents of 0 or more"));
}

TEST(Placeholder, AnOperatorNamesTheArgument) {
  const Tensor real = full({3, 4}, 1.0f);
  const Tensor x = placeholder({2, 3}, kFloat, CPUPlace());
  EXPECT_THAT([&] { matmul(x, real); },
              ThrowsError(ErrorCode::kPreconditionNotMet,
                          "argument 'x' of matmul, f32[2,3], is a placeholder"));
  EXPECT_THAT(
      [&] {
        matmul(full({2, 3}, 1.0f), placeholder({3, 4}, kFloat, CPUPlace()));
      },
      ThrowsError(ErrorCode::kPreconditionNotMet,
                  "argument 'y' of matmul, f32[3,4], is a placeholder"));
}

TEST(Placeholder, DistributedOnesHoldTheRanksDims) {
  distributed::run_ranks(3, [](World& world) {
    const ProcessMesh mesh({2}, {"tp"}, {0, 1});
    const Tensor x = distributed::placeholder({5, 4}, kFloat, mesh, {Shard(0)});
    EXPECT_EQ(x.shape(), (Dims{5, 4}));
    EXPECT_EQ(x.nbytes_here(), 0u);
    const Dims dims[] = {{3, 4}, {2, 4}, {0, 0}};
    EXPECT_EQ(x.local().shape(), dims[world.rank()]);
    EXPECT_THAT([&] { distributed::placeholder({5}, kFloat, mesh, {Shard(1)}); },
                ThrowsError(ErrorCode::kInvalidArgument, "shards tensor dim 1 over mesh dim 'tp'"));
    if (world.rank() == 2) return;
    EXPECT_THAT([&] { x.values<float>(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "made by placeholder"));
    EXPECT_THAT([&] { relu(x); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "argument 'x' of relu"));
  });
}

TEST(DryRank, OperatorsCountAndHoldNothing) {
  DryWorld world(1, 4);
  const World::Scope scope(world);
  const ProcessMesh mesh({2}, {"tp"}, {0, 1});
  const ProcessMesh elsewhere({2}, {"tp"}, {2, 3});
  {
    const Tensor w =
        distributed::shard_tensor(deferred_gaussian({8, 6}, 0.0f, 1.0f, 1), mesh, {Shard(1)});
    const Tensor x = distributed::placeholder({4, 8}, kFloat, mesh, {});
    const Tensor y = matmul(x, w);
    EXPECT_EQ(y.local().shape(), (Dims{4, 3}));
    EXPECT_EQ(y.nbytes_here(), 0u);
    EXPECT_EQ(y.nbytes_held(), 4u * 3 * 4);
    EXPECT_EQ(planned().current, (8 * 3 + 4 * 8 + 4 * 3) * 4);
    relu(distributed::reshard(y, elsewhere, {Shard(1)}));
    EXPECT_EQ(world.rank_context().counters().ops_launched, 1);
    EXPECT_EQ(world.rank_context().counters().ops_clipped, 1);
    EXPECT_EQ(world.rank_context().counters().bytes_sent, 4 * 3 * 4);
    EXPECT_THAT([&] { y.values<float>(); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "made by matmul, has no bytes on this rank: a dry run computes no "
                            "values."));
    EXPECT_EQ(item_or(sum(y), 7.0), 7.0);
  }
  EXPECT_EQ(planned().current, 0);
  EXPECT_GT(planned().peak, 0);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 0);
}

TEST(DryRank, DeferredInputsArePlannedWhenTheyAreUsed) {
  DryWorld world(0, 1);
  const World::Scope scope(world);
  const Tensor x = deferred_full({10}, 1.0);
  EXPECT_EQ(planned().current, 0);
  relu(x);
  EXPECT_EQ(planned().current, 40);
  EXPECT_THAT([] { deferred_full({2}, 1.0).values<float>(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "a dry run computes no values"));
}

// Who runs the program for real finds where the bytes come from.
TEST(DryRank, AShardOfADeferredTensorKeepsItsSource) {
  DryWorld world(1, 2);
  const World::Scope scope(world);
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const Tensor w = distributed::shard_tensor(Tensor::from<float>(values, {3, 2}),
                                             ProcessMesh({2}, {"x"}), {Shard(0)});
  relu(w);
  EXPECT_EQ(w.nbytes_held(), 8u);
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), TransferCount{});
  RankContext real(1, 2);
  const RankContext::Scope run(real);
  EXPECT_THAT(w.local().to_vector<float>(), ::testing::ElementsAre(4, 5));
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), (TransferCount{1, 8}));
  EXPECT_EQ(w.nbytes_here(), 8u);
}

TEST(DryRank, RefusesShapesThatDependOnData) {
  DryWorld world(0, 1);
  const World::Scope scope(world);
  EXPECT_THAT(
      [] { nonzero(placeholder({4}, kFloat, CPUPlace())); },
      ThrowsError(ErrorCode::kUnimplemented, "the output shape of nonzero depends on data"));
}

// A program with every kind of collective: what a rank that only plays counts is what it sends.
void program(const ProcessMesh& mesh) {
  const Tensor x = distributed::shard_tensor(deferred_full({6, 10}, 1.0), mesh, {Shard(0)});
  const Tensor whole = distributed::reshard(x, mesh, {Replicate()});
  const Tensor turned = distributed::reshard(x, mesh, {Shard(1)});
  const Tensor part =
      matmul(turned, distributed::shard_tensor(deferred_full({10, 6}, 1.0), mesh, {Shard(0)}));
  const Tensor reduced = distributed::reshard(part, mesh, {Replicate()});
  const Tensor scattered = distributed::reshard(part, mesh, {Shard(0)});
  const Tensor label =
      distributed::shard_tensor(deferred_full({6, 1}, 1.0, DataType::INT64), mesh, {});
  cross_entropy_with_softmax(turned, label);
}

TEST(DryRank, CountsTheMessagesOfARealRank) {
  constexpr int kRanks = 3;
  const auto count = [](World& world) {
    program(ProcessMesh({kRanks}, {"tp"}));
    return world.rank_context().counters();
  };
  std::array<Counters, kRanks> real;
  distributed::run_ranks(kRanks, [&](World& world) { real[world.rank()] = count(world); });
  for (int rank = 0; rank < kRanks; ++rank) {
    DryWorld world(rank, kRanks);
    const World::Scope scope(world);
    const Counters dry = count(world);
    EXPECT_EQ(dry.ops_launched, real[rank].ops_launched);
    EXPECT_EQ(dry.reshard_steps, real[rank].reshard_steps);
    EXPECT_EQ(dry.bytes_sent, real[rank].bytes_sent);
    EXPECT_EQ(dry.bytes_received, real[rank].bytes_received);
    for (size_t op = 0; op < kNumCollectives; ++op) {
      EXPECT_EQ(dry.traffic[op].messages, real[rank].traffic[op].messages) << op;
      EXPECT_EQ(dry.traffic[op].bytes, real[rank].traffic[op].bytes) << op;
    }
    for (const CommOp op :
         {CommOp::kAllGather, CommOp::kAllToAll, CommOp::kAllReduce, CommOp::kReduceScatter}) {
      EXPECT_GT(dry.traffic[static_cast<size_t>(op)].bytes, 0) << name_of(op);
    }
  }
}

}  // namespace
}  // namespace phi
