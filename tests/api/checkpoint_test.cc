// Checkpoints of handles: a deferred tensor of one reads this rank's part and no more.
#include "api/tensor/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::distributed::checkpoint {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

class ApiCheckpointTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ =
      std::filesystem::temp_directory_path() / ("api_checkpoint_test." + std::to_string(getpid()));
};

TEST_F(ApiCheckpointTest, SavedOnOneMeshShardedOnAnother) {
  run_ranks(4, [&](World& world) {
    const ProcessMesh square({2, 2});
    const Tensor w =
        shard_tensor(deferred_gaussian({64, 32}, 0, 1, 3), square, {Shard(1), Shard(0)});
    const Tensor b = deferred_full({5}, Scalar(2.5));
    save(folder_, Named{{"w", w}, {"b", b}});
    const Checkpoint from = open(folder_);

    const ProcessMesh half({2}, {}, {1, 3});
    const Tensor lazy = deferred(from, "w");
    EXPECT_EQ(lazy.shape(), (Dims{64, 32}));
    EXPECT_EQ(from.bytes_read(), 0);
    const int64_t before = memory_stats(CPUPlace()).peak;
    const Tensor rows = shard_tensor(lazy, half, {Shard(0)});
    const int64_t part = half.contains(world.rank()) ? 64 * 32 * 4 / 2 : 0;
    EXPECT_EQ(from.bytes_read(), part);
    EXPECT_LE(memory_stats(CPUPlace()).peak - before, part);
    EXPECT_FALSE(lazy.initialized());

    const Tensor expected = shard_tensor(deferred_gaussian({64, 32}, 0, 1, 3), half, {Shard(0)});
    if (part > 0) {
      EXPECT_THAT(rows.values<float>(), ::testing::ElementsAreArray(expected.values<float>()));
    }
    const Tensor whole = deferred(from, "b", DataType::BFLOAT16);
    EXPECT_EQ(static_cast<float>(whole.values<bfloat16>()[4]), 2.5f);
  });
}

// 64 by 32 numbers of 4 bytes, on four ranks of which two share the rows.
TEST_F(ApiCheckpointTest, AFileCrossesAsFarAsItIsNeeded) {
  const auto read = [] { return transfer_stats().of(Tier::kDisk, Tier::kDevice); };
  run_ranks(4, [&](World& world) {
    const ProcessMesh everyone({4});
    reset_transfer_stats();
    save(folder_,
         Named{{"w", shard_tensor(deferred_gaussian({64, 32}, 0, 1, 3), everyone, {Shard(0)})}});
    EXPECT_EQ(transfer_stats().of(Tier::kDevice, Tier::kDisk), (TransferCount{1, 64 * 32}));
    const Checkpoint from = open(folder_);
    const ProcessMesh half({2}, {}, {1, 3});
    const bool in_half = half.contains(world.rank());
    double sums[2];
    for (const bool waits : {false, true}) {
      set_deferred_transfer(waits);
      reset_transfer_stats();
      const Tensor w = deferred(from, "w");
      const TransferCount whole{1, 64 * 32 * 4}, none;
      EXPECT_EQ(read(), waits ? none : whole);
      const Tensor rows = shard_tensor(w, half, {Shard(0)});
      const TransferCount part{1, 64 * 32 * 4 / 2};
      EXPECT_EQ(read(), !waits ? whole : in_half ? part : none);
      EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), none);
      sums[waits] = reshard(sum(rows), everyone, {}).item();
    }
    EXPECT_EQ(sums[0], sums[1]);
    // Of a tensor that is converted, the bytes in the file count.
    reset_transfer_stats();
    const Tensor narrow = deferred(from, "w", DataType::BFLOAT16);
    shard_tensor(narrow, everyone, {Shard(1)});
    EXPECT_EQ(read(), (TransferCount{1, 64 * 32 * 4 / 4}));
    load(from, Named{{"w", shard_tensor(narrow, everyone, {Shard(0)})}});
    EXPECT_EQ(read(), (TransferCount{3, 3 * 64 * 32 * 4 / 4}));
  });
}

TEST_F(ApiCheckpointTest, LoadsIntoTensorsThatAreThere) {
  run_ranks(3, [&](World&) {
    const ProcessMesh mesh({3});
    const Named saved = {{"w", shard_tensor(deferred_full({7}, Scalar(3.0)), mesh, {Shard(0)})},
                         {"plain", deferred_full({2}, Scalar(4.0))}};
    save(folder_, saved);
    const Named into = {{"w", shard_tensor(deferred_full({7}, Scalar(0.0), DataType::FLOAT16), mesh,
                                           {Replicate()})},
                        {"plain", deferred_full({2}, Scalar(0.0))}};
    load(open(folder_), into);
    for (float16 x : into[0].second.values<float16>()) EXPECT_EQ(static_cast<float>(x), 3.0f);
    for (float x : into[1].second.values<float>()) EXPECT_EQ(x, 4.0f);
    EXPECT_THAT(
        [&] {
          load(open(folder_), Named{{"w", into[1].second}});
        },
        ThrowsError(ErrorCode::kInvalidArgument, "'w' should be f32[2], and is f32[7]"));
    EXPECT_THAT(
        [&] {
          save(folder_, Named{{"w", Tensor()}});
        },
        ThrowsError(ErrorCode::kInvalidArgument, "tensor 'w' is undefined"));
  });
}

}  // namespace
}  // namespace phi::distributed::checkpoint
