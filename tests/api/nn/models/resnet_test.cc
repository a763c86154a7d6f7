// Residual networks: losses of training are PyTorch's, and the same where the batch is split.
#include "api/nn/models/resnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/nn/layout/layout.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/made_up_values.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "tests/support/error_matchers.h"

namespace phi::nn::models {
namespace {

using distributed::ProcessMesh;

const ResNetConfig kSmall = {.blocks = {1, 2}, .width = 6, .classes = 5};
constexpr int kSteps = 6;

training::Batch batch() {
  return {made_up({4, 3, 8, 8}, 100, 1.0), Tensor::from(std::vector<int64_t>{0, 3, 1, 4}, {4, 1})};
}

std::vector<double> losses_of(ResNet& model) {
  training::Trainer trainer(
      model, cross_entropy,
      {.optimizer = {.kind = training::OptimizerKind::kSgd, .weight_decay = 0.0},
       .rate = {.peak = 0.1}});
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) losses.push_back(trainer.step({batch()}).loss);
  return losses;
}

void expect_torch_losses(const std::vector<double>& losses) {
  const std::vector<double> expected = torch_losses_of("resnet");
  ASSERT_EQ(expected.size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 2e-5) << i;
}

TEST(ResNet, LearnsAsInPyTorch) {
  ResNet model(kSmall);
  make_up_parameters(model);
  expect_torch_losses(losses_of(model));
}

class ResNetOnMeshes : public ::testing::TestWithParam<int64_t> {};

TEST_P(ResNetOnMeshes, LearnsTheSame) {
  const ProcessMesh mesh({GetParam()}, {"dp"});
  distributed::run_ranks(mesh.size(), [&](distributed::World&) {
    ResNet model(kSmall);
    make_up_parameters(model);
    shard(model, mesh, transformer_layout(model, mesh));
    expect_torch_losses(losses_of(model));
  });
}
INSTANTIATE_TEST_SUITE_P(Meshes, ResNetOnMeshes, ::testing::Values(2, 3, 4));

TEST(ResNet, HasEighteenLayersByDefault) {
  const ResNet model(ResNetConfig{});
  EXPECT_EQ(model.num_parameters(), 11173962);  // of PyTorch's common one for CIFAR-10
}

TEST(ResNet, RefusesWhatNoModelCanBe) {
  EXPECT_THAT(
      [] {
        ResNet({.blocks = {2, 0}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "each stage must have a block"));
  EXPECT_THAT([] { ResNet({.classes = 0}); },
              ThrowsError(ErrorCode::kInvalidArgument, "classes 0 must be 1 at the least"));
  const ResNet model(kSmall);
  EXPECT_THAT(
      [&] {
        model(made_up({1, 4, 8, 8}, 0, 1.0));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the model takes [batch,3,height,width]"));
}

}  // namespace
}  // namespace phi::nn::models
