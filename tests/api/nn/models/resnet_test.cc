// Residual networks: losses of training are PyTorch's, and the same where the batch is split.
#include "api/nn/models/resnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/nn/layout/layout.h"
#include "api/nn/layout/shard.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "tests/api/nn/models/torch_training.h"
#include "tests/support/error_matchers.h"

namespace phi::nn::models {
namespace {

using distributed::ProcessMesh;

const ResNetConfig kSmall = {.blocks = {1, 2}, .width = 6, .classes = 5};
constexpr double kTolerance = 2e-5;

TEST(ResNet, LearnsAsInPyTorch) {
  ResNet model(kSmall);
  make_up_parameters(model);
  expect_torch_losses(model, "resnet", kTolerance);
}

class ResNetOnMeshes : public ::testing::TestWithParam<int64_t> {};

TEST_P(ResNetOnMeshes, LearnsTheSame) {
  const ProcessMesh mesh({GetParam()}, {"dp"});
  distributed::run_ranks(mesh.size(), [&](distributed::World&) {
    ResNet model(kSmall);
    make_up_parameters(model);
    shard(model, mesh, transformer_layout(model, mesh));
    expect_torch_losses(model, "resnet", kTolerance);
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
      ThrowsError(ErrorCode::kInvalidArgument, "each stage at least one block"));
  EXPECT_THAT([] { ResNet({.classes = 0}); },
              ThrowsError(ErrorCode::kInvalidArgument, "classes 0 must be at least 1"));
  const ResNet model(kSmall);
  EXPECT_THAT(
      [&] {
        model(made_up({1, 4, 8, 8}, 0, 1.0));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the model expects [batch,3,height,width]"));
}

}  // namespace
}  // namespace phi::nn::models
