// The vision transformer: losses of training are PyTorch's, and the same on every mesh.
#include "api/nn/models/vit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/nn/layout/shard.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "tests/api/nn/models/torch_training.h"
#include "tests/support/error_matchers.h"

namespace phi::nn::models {
namespace {

using distributed::ProcessMesh;

const VitConfig kSmall = {
    .image = 8, .patch = 4, .classes = 5, .d_model = 16, .layers = 2, .heads = 4, .hidden = 32};
constexpr double kTolerance = 1e-5;

TEST(Vit, LearnsAsInPyTorch) {
  Vit model(kSmall);
  make_up_parameters(model);
  expect_torch_losses(model, "vit", kTolerance);
}

class VitOnMeshes : public ::testing::TestWithParam<std::vector<int64_t>> {};

TEST_P(VitOnMeshes, LearnsTheSame) {
  const ProcessMesh mesh(GetParam(), {"dp", "tp"});
  distributed::run_ranks(mesh.size(), [&](distributed::World&) {
    Vit model(kSmall);
    make_up_parameters(model);
    shard(model, mesh, transformer_layout(model, mesh));
    expect_torch_losses(model, "vit", kTolerance);
  });
}
INSTANTIATE_TEST_SUITE_P(Meshes, VitOnMeshes,
                         ::testing::Values(std::vector<int64_t>{2, 1}, std::vector<int64_t>{1, 2},
                                           std::vector<int64_t>{2, 2}, std::vector<int64_t>{1, 4}));

TEST(Vit, RefusesWhatNoModelCanBe) {
  EXPECT_THAT([] { Vit({.image = 30, .patch = 4}); },
              ThrowsError(ErrorCode::kInvalidArgument, "image must be a multiple of patch"));
  EXPECT_THAT([] { Vit({.d_model = 10, .heads = 3}); },
              ThrowsError(ErrorCode::kInvalidArgument, "d_model 10 is not a multiple of heads 3"));
  EXPECT_THAT([] { Vit({.classes = 0}); }, ThrowsError(ErrorCode::kInvalidArgument, "classes 0"));
  const Vit model(kSmall);
  EXPECT_THAT(
      [&] {
        model(made_up({1, 3, 9, 8}, 0, 1.0));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the model expects [batch,3,8,8]"));
}

}  // namespace
}  // namespace phi::nn::models
