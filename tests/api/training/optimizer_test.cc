// ZeRO stages: the bytes of the formulas, and updates that do not depend on the stage.
#include "api/training/optimizer.h"

#include <gmock/gmock.h>

#include <cmath>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/placement/shard_further.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi::training {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::World;
using distributed::testing::on_ranks;

constexpr int64_t kRows = 16;
constexpr int64_t kColumns = 24;
constexpr int64_t kNumel = kRows * kColumns;

// A parameter in the stage's placements, trained on rows that each rank has its own of.
struct Model {
  Tensor weight;
  ProcessMesh mesh;

  Model(int64_t ranks, int stage, DataType dtype) : mesh({ranks}, {"dp"}) {
    const Tensor whole = deferred_gaussian({kRows, kColumns}, 0.0f, 0.5f, 3, dtype);
    const auto* attr = distributed::TensorDistAttr::replicated(mesh);
    if (stage == 3) attr = distributed::shard_further(attr, whole.shape(), "dp");
    weight = distributed::shard_tensor(whole, mesh, attr->placements());
  }

  void backward(int64_t sample) const {
    const Tensor x = distributed::shard_tensor(
        deferred_gaussian({24, kRows}, 0.0f, 1.0f, static_cast<uint64_t>(100 + sample),
                          weight.dtype()),
        mesh, {Shard(0)});
    mean(square(matmul(x, weight))).backward();
  }
};

std::vector<float> gathered(const Tensor& x) {
  const Tensor whole =
      cast(distributed::reshard(x.detach(), x.mesh(), {Replicate()}), DataType::FLOAT32);
  const auto values = whole.values<float>();
  return {values.begin(), values.end()};
}

std::vector<float> trained(int64_t ranks, int stage, OptimizerConfig config,
                           DataType dtype = DataType::FLOAT32) {
  std::vector<float> result;
  on_ranks(ranks, [&](World& world) {
    const Model model(ranks, stage, dtype);
    Optimizer optimizer(config, {model.weight}, {.stage = stage});
    for (int64_t step = 0; step < 3; ++step) {
      for (int64_t micro = 0; micro < 2; ++micro) model.backward(2 * step + micro);
      optimizer.step(0.01);
    }
    const auto values = gathered(model.weight);
    if (world.rank() == 0) result = values;
  });
  return result;
}

// Rajbhandari et al. 2019, figure 1: bytes per parameter of weights and gradients (2 each in
// bfloat16) and of Adam's float32 states (12), divided by N where the stage splits them.
class ZeroBytes : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(ZeroBytes, AreThoseOfTheFormula) {
  const auto [ranks, stage] = GetParam();
  on_ranks(ranks, [stage = stage, n = ranks](World&) {
    const Model model(n, stage, DataType::BFLOAT16);
    Optimizer optimizer({}, {model.weight}, {.stage = stage});
    model.backward(0);
    model.backward(1);
    const StateBytes bytes = optimizer.bytes_here();
    EXPECT_EQ(bytes.parameters, 2 * kNumel / (stage >= 3 ? n : 1));
    EXPECT_EQ(bytes.gradients, 2 * kNumel / (stage >= 2 ? n : 1));
    EXPECT_EQ(bytes.states, 12 * kNumel / (stage >= 1 ? n : 1));
  });
}

INSTANTIATE_TEST_SUITE_P(Stages, ZeroBytes,
                         ::testing::Combine(::testing::Values(2, 4), ::testing::Range(0, 4)));

TEST(Optimizer, EachStageOnEachNumberOfRanksMakesTheSameUpdate) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kMomentum, OptimizerKind::kAdamW}) {
    const OptimizerConfig config{.kind = kind, .grad_clip = 0.5};
    const auto expected = trained(1, 0, config);
    for (const int ranks : {2, 3, 4}) {
      for (int stage = 0; stage <= 3; ++stage) {
        EXPECT_THAT(trained(ranks, stage, config),
                    ::testing::Pointwise(::testing::FloatNear(2e-5f), expected))
            << "kind " << int(kind) << ", stage " << stage << " on " << ranks << " ranks";
      }
    }
  }
}

TEST(Optimizer, SixteenBitParametersFollowTheirMasterWeights) {
  const auto expected = trained(1, 0, {}, DataType::FLOAT32);
  const auto actual = trained(2, 2, {}, DataType::BFLOAT16);
  EXPECT_THAT(actual, ::testing::Pointwise(::testing::FloatNear(2e-2f), expected));
}

TEST(Optimizer, ClipsToTheGlobalNorm) {
  Tensor w = full({3}, 1.0f);
  Optimizer optimizer({.kind = OptimizerKind::kSgd, .weight_decay = 0, .grad_clip = 1.0}, {w}, {});
  sum(multiply(w, Tensor::from<float>(std::vector<float>{0, 3, 4}, {3}))).backward();
  const auto outcome = optimizer.step(1.0);
  EXPECT_NEAR(outcome.grad_norm, 5.0, 1e-6);
  EXPECT_THAT(w.values<float>(), ::testing::Pointwise(::testing::FloatNear(1e-5f),
                                                      std::vector<float>{1.0f, 0.4f, 0.2f}));
}

TEST(Optimizer, LeavesOutAStepWhoseGradientsAreNotFinite) {
  Tensor w = full({2}, 1.0f);
  Optimizer optimizer({.kind = OptimizerKind::kSgd}, {w}, {});
  sum(scale(w, INFINITY)).backward();
  EXPECT_FALSE(optimizer.step(1.0, 1.0, /*check_finite=*/true).applied);
  EXPECT_THAT(w.values<float>(), ::testing::ElementsAre(1.0f, 1.0f));
  EXPECT_FALSE(w.grad().defined()) << "the gradients of the step are gone";
}

TEST(Optimizer, DividesByTheLossScale) {
  Tensor w = full({2}, 1.0f);
  Optimizer optimizer({.kind = OptimizerKind::kSgd, .weight_decay = 0}, {w}, {});
  scale(sum(w), 1024.0).backward();
  optimizer.step(0.25, 1024.0);
  EXPECT_THAT(w.values<float>(), ::testing::ElementsAre(0.75f, 0.75f));
}

TEST(Optimizer, RefusesWhatCannotBeSplit) {
  Tensor w = full({2}, 1.0f);
  EXPECT_THAT([&] { Optimizer({}, {w}, {.stage = 1}); },
              ThrowsError(ErrorCode::kInvalidArgument, "plain tensor"));
  EXPECT_THAT([&] { Optimizer({}, {w}, {.stage = 4}); },
              ThrowsError(ErrorCode::kInvalidArgument, "ZeRO stage 4 does not exist"));
}

}  // namespace
}  // namespace phi::training
