// Operators whose ranks wait for each other, and a value that one of them refuses: all of them do.
#include <gflags/gflags.h>
#include <gmock/gmock.h>

#include <chrono>

#include "api/generated/ops/embedding_with_scaled_gradient.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/nll_loss.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/assign_gpu.h"
#include "tests/support/error_matchers.h"

DEFINE_string(place, "cpu", "place of tensors and operators: cpu or gpu");

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;

// A rank that had gone without the others would leave them waiting for so long.
constexpr std::chrono::seconds kPatience(20);

// The mean of four rows, of which each of two ranks has two; rank 1's second label is `last`.
float mean_loss(int64_t last) {
  const ProcessMesh pair({2}, {"x"});
  const std::vector<float> scores(12, -2.0f);
  const std::vector<int64_t> labels{0, 1, 2, last};
  const Tensor input = shard_tensor(Tensor::from<float>(scores, {4, 3}), pair, {Shard(0)});
  const Tensor label = shard_tensor(Tensor::from<int64_t>(labels, {4}), pair, {Shard(0)});
  const auto [loss, weight] = nll_loss(input, label);
  return loss.to_vector<float>()[0];
}

TEST(Refusals, ALabelOfOneRankIsRefusedByAll) {
  const auto run = [](distributed::World& world) {
    if (FLAGS_place == "gpu") distributed::testing::assign_gpu(world, 2);
    EXPECT_EQ(mean_loss(1), 2.0f);
    const char* text = world.rank() == 1 ? "label of row 1 is 3, but input has 3 classes"
                                         : "a label on another rank is not a class";
    EXPECT_THAT([] { mean_loss(3); }, ThrowsError(ErrorCode::kInvalidArgument, text));
    EXPECT_EQ(mean_loss(-100), 2.0f);  // they are together still
  };
  distributed::run_ranks(2, run, kPatience);
}

// The gradient of a table of three rows, of which each of two ranks has looked up two.
Tensor table_gradient(int64_t last) {
  const ProcessMesh pair({2}, {"x"});
  const std::vector<int64_t> ids{0, 1, 2, last};
  const Tensor x = shard_tensor(Tensor::from<int64_t>(ids, {4}), pair, {Shard(0)});
  const Tensor table = shard_tensor(full({3, 2}, 1.0f), pair, {Replicate()});
  const Tensor out_grad = shard_tensor(full({4, 2}, 1.0f), pair, {Shard(0)});
  return embedding_with_scaled_gradient_grad(x, table, out_grad, -1);
}

TEST(Refusals, AnIdOfOneRankIsRefusedByAll) {
  const auto run = [](distributed::World& world) {
    table_gradient(1);
    const char* text = world.rank() == 1 ? "x holds 3 at flat position 1"
                                         : "x holds a value on another rank that is not in [0, 3)";
    EXPECT_THAT([] { table_gradient(3); }, ThrowsError(ErrorCode::kOutOfRange, text));
    table_gradient(1);
  };
  distributed::run_ranks(2, run, kPatience);
}

}  // namespace
}  // namespace phi

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
