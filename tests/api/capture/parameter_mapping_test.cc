// Parameters of a captured program by id: by reference nothing moves, copies are whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/rank_launcher.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::ElementsAreArray;

// Two stages of two ranks; a parameter on each.
struct TwoStages {
  ProcessMesh first{{2}, {"tp"}, {0, 1}};
  ProcessMesh second{{2}, {"tp"}, {2, 3}};
  Tensor up = shard_tensor(deferred_gaussian({16, 32}, 0, 1, 1), first, {Shard(1)});
  Tensor down = shard_tensor(deferred_gaussian({32, 8}, 0, 1, 2), second, {Shard(0)});
  Tensor made;

  Program capture() {
    const Tensor x = shard_tensor(deferred_gaussian({4, 16}, 0, 1, 3), first, {Replicate()});
    return phi::capture(
        [&](const TensorList& in) {
          made = matmul(in[0], up);
          return TensorList{matmul(reshard(made, second, {Replicate()}), down)};
        },
        {x});
  }
};

void expect_no_transfers() {
  for (const Tier from : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
    for (const Tier to : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
      EXPECT_EQ(transfer_stats().of(from, to), TransferCount()) << name_of(from) << name_of(to);
    }
  }
}

TEST(ParameterMapping, ByReferenceNothingMoves) {
  on_ranks(4, [](World& world) {
    TwoStages stages;
    const Program program = stages.capture();
    const auto bytes_sent = world.rank_context().counters().bytes_sent;
    reset_transfer_stats();
    reset_memory_peak(CPUPlace());
    const int64_t device = memory_stats(CPUPlace()).peak;
    reset_memory_peak(Tier::kHost);
    const int64_t host = memory_stats(Tier::kHost).peak;
    const auto mapping = program.device_parameter_id_tensor_mapping();
    ASSERT_EQ(mapping.size(), 2u);
    EXPECT_TRUE(same_tensor(mapping.at(0), stages.up));
    EXPECT_TRUE(same_tensor(mapping.at(1), stages.down));
    expect_no_transfers();
    EXPECT_EQ(world.rank_context().counters().bytes_sent, bytes_sent);
    EXPECT_EQ(memory_stats(CPUPlace()).peak, device);
    EXPECT_EQ(memory_stats(Tier::kHost).peak, host);
  });
}

TEST(ParameterMapping, CopiesAreWholeAndOnTheHost) {
  on_ranks(4, [](World&) {
    TwoStages stages;
    const Program program = stages.capture();
    const auto mapping = program.parameter_id_tensor_mapping();
    ASSERT_EQ(mapping.size(), 2u);
    const Tensor whole = deferred_gaussian({32, 8}, 0, 1, 2);
    EXPECT_EQ(mapping.at(1).shape(), Dims({32, 8}));
    EXPECT_FALSE(mapping.at(1).is_dist());
    EXPECT_THAT(mapping.at(1).to_vector<float>(), ElementsAreArray(whole.to_vector<float>()));
    EXPECT_GT(memory_stats(Tier::kHost).current, 0);
  });
}

TEST(ParameterMapping, IdsGoByStorageAlsoWithoutBytes) {
  on_ranks(4, [](World&) {
    TwoStages stages;
    const Program program = stages.capture();
    EXPECT_EQ(program.tensor_parameter_id(stages.up), 0);
    EXPECT_EQ(program.tensor_parameter_id(stages.down.detach()), 1);
    EXPECT_EQ(program.tensor_parameter_id(stages.made), -1);
    EXPECT_EQ(program.tensor_parameter_id(Tensor()), -1);
    EXPECT_EQ(program.tensor_parameter_id(full({2}, 1.0f)), -1);
  });
}

}  // namespace
}  // namespace phi
