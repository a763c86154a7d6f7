// What crosses between host and device, and when: on ranks as threads, and under mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "api/generated/ops/add.h"
#include "api/generated/ops/all.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Counts begin at zero in it.
class Transfers {
 public:
  explicit Transfers(bool deferred = true) {
    set_deferred_transfer(deferred);
    reset_transfer_stats();
  }
  ~Transfers() { set_deferred_transfer(true); }
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
};

TransferCount uploads() { return transfer_stats().of(Tier::kHost, Tier::kDevice); }
TransferCount downloads() { return transfer_stats().of(Tier::kDevice, Tier::kHost); }

std::vector<float> counting(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}
Tensor iota(const Dims& shape) { return Tensor::from<float>(counting(shape.numel()), shape); }

// Ranks 1 and 3 of four: rows 0 to 2, and 3 and 4, of a tensor of five.
ProcessMesh pair() { return ProcessMesh({2}, {"x"}, {1, 3}); }
int64_t rows_here(const World& world) { return world.rank() == 1 ? 3 : world.rank() == 3 ? 2 : 0; }

TEST(DeferredTransfer, OnlyThisRanksShardCrosses) {
  on_ranks(4, [](World& world) {
    const Transfers transfers;
    const int64_t rows = rows_here(world);
    reset_memory_peak(CPUPlace());
    const int64_t before = memory_stats(CPUPlace()).peak;
    const Tensor x = iota({5, 6});
    EXPECT_FALSE(x.initialized());
    EXPECT_EQ(uploads(), TransferCount{});
    const Tensor w = shard_tensor(x, pair(), {Shard(0)});
    EXPECT_EQ(uploads(), (TransferCount{rows > 0 ? 1 : 0, rows * 24}));
    EXPECT_EQ(memory_stats(CPUPlace()).peak - before, rows * 24);
    EXPECT_FALSE(x.initialized());
    if (rows > 0) {
      std::vector<float> expected = counting(30);
      expected.erase(expected.begin(), expected.begin() + (world.rank() == 1 ? 0 : 18));
      expected.resize(static_cast<size_t>(rows * 6));
      EXPECT_EQ(w.to_vector<float>(), expected);
      EXPECT_EQ(downloads(), (TransferCount{1, rows * 24}));
    }
  });
}

TEST(DeferredTransfer, TurnedOffTheWholeCrossesAtOnce) {
  on_ranks(4, [](World& world) {
    const Transfers transfers(false);
    const Tensor x = iota({5, 6});
    EXPECT_TRUE(x.initialized());
    EXPECT_EQ(uploads(), (TransferCount{1, 120}));
    const Tensor kept = Tensor::from(counting(30), {5, 6});
    EXPECT_EQ(uploads(), (TransferCount{2, 240}));
    EXPECT_EQ(memory_stats(Tier::kHost).current, 0);
    const Tensor w = shard_tensor(x, pair(), {Shard(0)});
    EXPECT_EQ(uploads().count, 2);
    EXPECT_EQ(w.nbytes_here(), static_cast<size_t>(rows_here(world) * 24));
  });
}

// An input, a weight and a label from the host; the loss on every rank.
double loss_of(const ProcessMesh& mesh) {
  const Tensor x = shard_tensor(scale(iota({6, 8}), 0.01f), mesh, {Shard(0)});
  const Tensor w = shard_tensor(iota({8, 5}), mesh, {Shard(1)});
  const Tensor bias = iota({5});  // never annotated
  const Tensor y = add(matmul(x, w), bias);
  return reshard(mean(square(y)), mesh, {Replicate()}).item();
}

TEST(DeferredTransfer, TheValuesAreTheSameOnBothPaths) {
  on_ranks(4, [](World&) {
    const ProcessMesh mesh({4}, {"x"});
    double loss[2];
    int64_t uploaded[2];
    for (const bool deferred : {false, true}) {
      const Transfers transfers(deferred);
      loss[deferred] = loss_of(mesh);
      uploaded[deferred] = uploads().bytes;
      EXPECT_EQ(downloads(), (TransferCount{1, 4}));
    }
    EXPECT_GT(loss[0], 0.0);
    EXPECT_EQ(loss[0], loss[1]);
    // x is used whole by scale before it is sharded; w is not.
    const int64_t shard_of_w = distributed::rank() == 0 ? 8 * 2 * 4 : 8 * 1 * 4;
    EXPECT_EQ(uploaded[0], (6 * 8 + 8 * 5 + 5) * 4);
    EXPECT_EQ(uploaded[1], 6 * 8 * 4 + shard_of_w + 5 * 4);
  });
}

TEST(DeferredTransfer, ATensorNeverAnnotatedIsReplicatedOnceOnFirstUse) {
  on_ranks(4, [](World& world) {
    const Transfers transfers;
    const bool in_mesh = rows_here(world) > 0;
    const Tensor plain = iota({5, 6});
    const Tensor w = shard_tensor(full({5, 6}, 1.0f), pair(), {Shard(0)});
    const Tensor first = add(plain, w);
    EXPECT_EQ(uploads(), (TransferCount{in_mesh ? 1 : 0, in_mesh ? 120 : 0}));
    EXPECT_EQ(plain.initialized(), in_mesh);
    const Tensor second = add(plain, w);
    EXPECT_EQ(uploads().count, in_mesh ? 1 : 0);
    if (in_mesh) {
      EXPECT_EQ(first.to_vector<float>()[0], world.rank() == 1 ? 1.0f : 19.0f);
      EXPECT_EQ(first.to_vector<float>(), second.to_vector<float>());
    }
  });
}

TEST(DeferredTransfer, ReshardingNeverDownloads) {
  on_ranks(4, [](World& world) {
    const ProcessMesh all({4}, {"x"});
    Tensor x = shard_tensor(iota({5, 6}), all, {Shard(0)});
    const Transfers transfers;
    x = reshard(x, all, {Shard(1)});
    x = reshard(x, pair(), {Replicate()});
    x = reshard(relu(x), all, {Partial()});
    x = shard_tensor(x, all, {Replicate()});
    EXPECT_TRUE(transfer_stats() == TransferStats{});
    EXPECT_THAT(x.to_vector<float>(), ElementsAreArray(counting(30))) << world.rank();
  });
}

TEST(DeferredTransfer, APartialValueIsReadWhereItIsKept) {
  on_ranks(4, [](World& world) {
    const Transfers transfers;
    const ProcessMesh mesh({2, 2}, {"a", "b"});
    const Tensor x = shard_tensor(iota({4, 3}), mesh, {Partial(), Shard(0)});
    const bool keeps = world.rank() < 2;
    EXPECT_EQ(uploads(), (TransferCount{keeps ? 1 : 0, keeps ? 24 : 0}));
    EXPECT_THAT(reshard(x, mesh, {}).to_vector<float>(), ElementsAreArray(counting(12)));
  });
}

TEST(DeferredTransfer, AnEmptyShardIsNoTransfer) {
  on_ranks(4, [](World& world) {
    const Transfers transfers;
    const Tensor x = shard_tensor(iota({3, 2}), ProcessMesh({4}, {"x"}), {Shard(0)});
    EXPECT_TRUE(x.initialized());
    EXPECT_EQ(uploads().count, world.rank() < 3 ? 1 : 0);
  });
}

TEST(DeferredTransfer, EveryShardingReadsWhatItNeeds) {
  on_ranks(4, [](World&) {
    const Transfers transfers;
    const ProcessMesh mesh({4}, {"x"});
    const Tensor x = iota({8, 8});
    const Tensor rows = shard_tensor(x, mesh, {Shard(0)});
    const Tensor columns = shard_tensor(x, mesh, {Shard(1)});
    EXPECT_EQ(uploads(), (TransferCount{2, 2 * 64}));
    EXPECT_FALSE(x.initialized());
    EXPECT_EQ(reshard(rows, mesh, {Shard(1)}).to_vector<float>(), columns.to_vector<float>());
  });
}

TEST(DeferredTransfer, InitialisersMakeTheirValuesOnTheDevice) {
  on_ranks(4, [](World&) {
    for (const bool deferred : {false, true}) {
      const Transfers transfers(deferred);
      const Tensor w = deferred_gaussian({8, 8}, 0, 1, 3);
      EXPECT_FALSE(w.initialized());
      sum(shard_tensor(w, ProcessMesh({4}, {"x"}), {Shard(0)}));
      sum(w);
      EXPECT_TRUE(transfer_stats() == TransferStats{});
    }
  });
}

TEST(HostArray, ReadOnTheHostItStaysThere) {
  on_ranks(4, [](World&) {
    const Transfers transfers;
    const Tensor x = iota({2, 3});
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_EQ(Tensor::from<int64_t>({7}, {}).item(), 7.0);
    EXPECT_THAT([&] { x.to_vector<double>(); },
                ThrowsError(ErrorCode::kInvalidArgument, "f32[2,3] is read as float64"));
    EXPECT_TRUE(transfer_stats() == TransferStats{});
    EXPECT_FALSE(x.initialized());
    EXPECT_EQ(reshape(x, {3, 2}).to_vector<float>()[5], 5.0f);
  });
}

TEST(HostArray, ValuesAreReadFromTheDevice) {
  on_ranks(4, [](World&) {
    const Transfers transfers;
    const Tensor x = iota({2, 3});
    EXPECT_EQ(x.values<float>()[5], 5.0f);
    EXPECT_EQ(uploads(), (TransferCount{1, 24}));
    EXPECT_EQ(downloads(), (TransferCount{1, 24}));
    EXPECT_EQ(x.to_vector<float>()[5], 5.0f);
    EXPECT_EQ(sum(x).item(), 15.0);
    EXPECT_EQ(uploads().count, 1);
    EXPECT_EQ(downloads(), (TransferCount{3, 52}));
  });
}

TEST(HostArray, IsHostMemoryUntilItIsOnTheDevice) {
  on_ranks(4, [](World&) {
    const Transfers transfers;
    const int64_t before = memory_stats(Tier::kHost).current;
    const auto waiting = [&] { return memory_stats(Tier::kHost).current - before; };
    Tensor copied = iota({10, 100});
    const Tensor taken = Tensor::from(counting(1000), {1000});
    const std::shared_ptr<const float[]> array(new float[3]{1, 2, 3});
    const Tensor shared = Tensor::from(array, {3});
    EXPECT_EQ(waiting(), 8012);
    EXPECT_EQ(array.use_count(), 2);
    EXPECT_EQ(sum(shared).item(), 6.0);
    EXPECT_EQ(array.use_count(), 1);
    EXPECT_EQ(waiting(), 8000);
    EXPECT_EQ(sum(taken).item(), 499500.0);
    EXPECT_EQ(waiting(), 4000);
    copied = Tensor();
    EXPECT_EQ(waiting(), 0);
  });
}

TEST(HostArray, TakesPartInGradientsAndInplaceOperations) {
  on_ranks(4, [](World&) {
    const ProcessMesh mesh({4}, {"x"});
    Tensor leaf = iota({8});
    leaf.set_requires_grad();
    sum(square(shard_tensor(leaf, mesh, {Shard(0)}))).backward();
    EXPECT_THAT(leaf.grad().to_vector<float>(), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
    Tensor x = iota({3});
    const Tensor same = x;
    add_(x, full({3}, 2.0f));
    EXPECT_THAT(same.to_vector<float>(), ElementsAre(2, 3, 4));
  });
}

}  // namespace
}  // namespace phi
