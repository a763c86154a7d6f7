// What docs say of messages, asked of the transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/nonzero.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/counted_world.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::testing::CountedWorld;
using distributed::testing::MessageCounts;
using distributed::testing::on_counted_ranks;

constexpr int64_t kFloat = 4;

TEST(MessageCounts, ATensorGoesToTheNextStageOnceAndInTheBoxesNeeded) {
  on_counted_ranks(4, [](CountedWorld& world) {
    const ProcessMesh first({2}, {"tp"}, {0, 1});
    const ProcessMesh second({2}, {"tp"}, {2, 3});
    const Tensor x = shard_tensor(deferred_full({64, 32}, 1.0), first, {Replicate()});
    const Tensor w0 = shard_tensor(deferred_full({32, 128}, 1.0), first, {Shard(1)});
    const Tensor w1 = shard_tensor(deferred_full({128, 16}, 1.0), second, {Shard(0)});
    EXPECT_EQ(world.message_counts(), MessageCounts{});
    const Tensor h = gelu(matmul(x, w0));
    EXPECT_EQ(world.message_counts(), MessageCounts{});
    matmul(h, w1);
    const int64_t half = 64 * 128 / 2 * kFloat;
    const bool sends = world.rank() < 2;
    EXPECT_EQ(world.message_counts(),
              (MessageCounts{sends, sends ? half : 0, !sends, sends ? 0 : half}));
  });
}

// docs/training.md: leaves keep partial sums, so only the last use of a gradient is a reduction.
TEST(MessageCounts, MicroBatchesAccumulateWithoutMessages) {
  on_counted_ranks(2, [](CountedWorld& world) {
    const ProcessMesh mesh({2}, {"dp"});
    Tensor w = shard_tensor(deferred_gaussian({32, 16}, 0, 1, 1), mesh, {Replicate()});
    w.set_requires_grad();
    for (const uint64_t seed : {2, 3}) {
      const Tensor x = shard_tensor(deferred_gaussian({8, 32}, 0, 1, seed), mesh, {Shard(0)});
      sum(matmul(x, w)).backward();
      EXPECT_EQ(world.message_counts(), MessageCounts{});
    }
    reshard(w.grad(), mesh, {Replicate()});
    EXPECT_GT(world.message_counts().bytes_sent, 0);
  });
}

TEST(MessageCounts, DeferredTensorsAreShardedWithoutMessages) {
  on_counted_ranks(4, [](CountedWorld& world) {
    const ProcessMesh mesh({2, 2}, {"dp", "tp"});
    const std::vector<float> values(64 * 64, 1.0f);
    for (const Tensor& x : {deferred_gaussian({64, 64}, 0, 1, 1), full({64, 64}, 2.0f),
                            Tensor::from<float>(values, {64, 64})}) {
      shard_tensor(x, mesh, {Shard(0), Shard(1)});
      shard_tensor(x, mesh, {Replicate(), Shard(0)});
      shard_tensor(x, ProcessMesh({2}, {"tp"}, {1, 2}), {Shard(1)});
    }
    EXPECT_EQ(world.message_counts(), MessageCounts{});
  });
}

// Every rank learns the shape, and nothing else.
TEST(MessageCounts, AShapeThatDependsOnDataIsAControlMessage) {
  on_counted_ranks(4, [](CountedWorld& world) {
    const ProcessMesh mesh({2}, {"tp"}, {0, 1});
    const Tensor x = shard_tensor(deferred_full({512, 512}, 1.0), mesh, {Replicate()});
    EXPECT_EQ(nonzero(x).shape(), (Dims{512 * 512, 2}));
    EXPECT_LE(world.message_counts().bytes_sent, 512);
    EXPECT_LE(world.message_counts().bytes_received, 512);
    EXPECT_GT(world.message_counts().messages_sent + world.message_counts().messages_received, 0);
  });
}

TEST(MessageCounts, ATransferThatIsStartedIsSeenWhenItIsStarted) {
  on_counted_ranks(2, [](CountedWorld& world) {
    const ProcessMesh from({1}, {"x"}, {0});
    const ProcessMesh to({1}, {"x"}, {1});
    const Tensor x = shard_tensor(deferred_full({64}, 1.0), from, {Replicate()});
    auto pending = distributed::start_reshard(x, to, {Replicate()});
    const bool sends = world.rank() == 0;
    const MessageCounts once{sends, sends ? 64 * kFloat : 0, !sends, sends ? 0 : 64 * kFloat};
    EXPECT_EQ(world.message_counts(), once);
    pending.wait();
    world.drain();
    EXPECT_EQ(world.message_counts(), once);
  });
}

}  // namespace
}  // namespace phi
