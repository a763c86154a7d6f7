// Optimizers of modules: which parameters they have, and where their states lie.
#include "api/training/shard_optimizer.h"

#include <gmock/gmock.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/sum.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard_layer.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi::training {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;
using distributed::shard_layer;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::Each;
using ::testing::ElementsAre;

class Pair final : public nn::Layer {
 public:
  Pair() : up(*this, "up", 4, 8), down(*this, "down", 8, 4) {}
  Tensor forward(const Tensor& x) const override { return down(relu(up(x))); }
  nn::Linear up, down;
};

nn::Layout layout_of(int stage) { return nn::Layout().zero(stage).batches({{"dp", Shard(0)}}); }

TEST(ShardOptimizer, StatesLieAsTheLayoutSays) {
  on_ranks(2, [](World&) {
    const ProcessMesh mesh({2}, {"dp"});
    for (const int stage : {0, 1, 2, 3}) {
      Pair model;
      shard_layer(model, mesh, layout_of(stage));
      const Optimizer optimizer = shard_optimizer(model);
      EXPECT_EQ(optimizer.states().size(), 8u);
      for (const auto& state : optimizer.states()) {
        EXPECT_EQ(state.value.placements()[0].is_shard(), stage > 0) << state.name << stage;
      }
    }
    Pair model;
    shard_layer(model, mesh, layout_of(0));
    const Optimizer split = shard_optimizer(model, {}, ZeroStage{1});
    EXPECT_TRUE(split.states()[0].value.placements()[0].is_shard());
  });
}

TEST(ShardOptimizer, AStageThatTheParametersAreNotMadeForIsRefused) {
  on_ranks(2, [](World&) {
    const ProcessMesh mesh({2}, {"dp"});
    Pair model, split;
    shard_layer(model, mesh, layout_of(1));
    EXPECT_THAT([&] { shard_optimizer(model, {}, ZeroStage{3}); },
                ThrowsError(ErrorCode::kInvalidArgument,
                            "ZeRO stage 3 for a model that is sharded for stage 1: only stage 3"));
    shard_layer(split, mesh, layout_of(3));
    EXPECT_THAT([&] { shard_optimizer(split, {}, ZeroStage{0}); },
                ThrowsError(ErrorCode::kInvalidArgument,
                            "stage 0 for a model that is sharded for stage 3"));
  });
}

// One step of plain gradient descent; what a group leaves out stays as it was.
TEST(ShardOptimizer, UpdatesWhatIsTrainedByTheGroupsRates) {
  Pair model;
  model.set_group("down.weight", {.trained = false});
  model.set_group("up.bias", {.rate = 2.0});
  EXPECT_THAT(optimized_names(model), ElementsAre("up.weight", "up.bias", "down.bias"));
  Optimizer optimizer = shard_optimizer(model, {.kind = OptimizerKind::kSgd, .weight_decay = 0.0});
  sum(model.up.forward(full({1, 4}, 0.0f)) + sum(model.down.forward(full({1, 8}, 0.0f))))
      .backward();
  const auto before = model.parameter_at("down.weight").to_vector<float>();
  optimizer.step(0.5);
  EXPECT_EQ(model.parameter_at("down.weight").to_vector<float>(), before);
  EXPECT_THAT(model.parameter_at("up.bias").to_vector<float>(), Each(-1.0f));
}

}  // namespace
}  // namespace phi::training
