// Training where every rank has a GPU, run on the CPU: the losses are those of CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "api/generated/ops/gaussian.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/layout/parallelism.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/tensor_api.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/error_matchers.h"

namespace phi::training {
namespace {

using distributed::ProcessMesh;

class Net final : public nn::Sequential {
 public:
  Net() {
    add<nn::Linear>("in", 6, 16, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<nn::LayerNorm>("norm", 16);
    add<nn::Linear>("out", 16, 5, nn::LinearOptions{.weight = nn::normal(0.5)});
  }
};

// Values are the host's, wherever the rank computes.
Tensor labels_of(int64_t step) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 8; ++i) labels.push_back((3 * i + step) % 5);
  return Tensor::from<int64_t>(labels, {8, 1});
}

using LayOut = std::function<void(Net&)>;

std::vector<double> losses(const LayOut& lay_out) {
  Net net;
  net.initialise(1);
  lay_out(net);
  Trainer trainer(
      net, nn::cross_entropy,
      {.optimizer = {.kind = OptimizerKind::kAdamW, .grad_clip = 1.0}, .rate = {.peak = 0.05}});
  std::vector<double> out;
  for (int64_t step = 1; step <= 4; ++step) {
    const Tensor inputs = gaussian({8, 6}, 0.0f, 1.0f, static_cast<int>(step));
    out.push_back(trainer.step({{inputs, labels_of(step)}}).loss);
  }
  return out;
}

void expect_same_losses(int64_t ranks, const LayOut& lay_out) {
  const std::vector<double> expected = losses([](Net&) {});
  distributed::run_ranks(ranks, [&](distributed::World& world) {
    EXPECT_EQ(distributed::use_gpu(), GPUPlace(static_cast<int>(world.rank())));
    const std::vector<double> actual = losses(lay_out);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
    EXPECT_GT(memory_stats(world.rank_context().place()).peak, 0);
  });
}

TEST(TrainingOnGpus, OneGpu) {
  expect_same_losses(1, [](Net&) {});
}

TEST(TrainingOnGpus, DataParallel) {
  expect_same_losses(2, [](Net& net) {
    const ProcessMesh mesh({2}, {"dp"});
    nn::shard(net, mesh, nn::data_parallel("dp"));
  });
}

TEST(TrainingOnGpus, MoreRanksThanGpusAreToldBothNumbers) {
  cuda_on_cpu::set_gpus(2);
  const auto join = [] {
    distributed::run_ranks(3, [](distributed::World&) { distributed::use_gpu(); });
  };
  EXPECT_THAT(join, ThrowsError(ErrorCode::kPreconditionNotMet, "ranks 0 and 2 use the same GPU"));
  EXPECT_THAT(join, ThrowsError(ErrorCode::kPreconditionNotMet,
                                "They are local ranks 0 and 2 on their machine, where CUDA shows "
                                "them 2 GPUs and 2 GPUs"));
  cuda_on_cpu::reset();
}

// Once in a process: the second time nothing is said.
TEST(TrainingOnGpus, ThroughTheHostRanksShareGpusAndAreTold) {
  cuda_on_cpu::set_gpus(2);
  const auto told = [] {
    ::testing::internal::CaptureStderr();
    distributed::run_ranks(5, [](distributed::World& world) {
      EXPECT_EQ(distributed::use_gpu({.messages = distributed::GpuMessages::kHost}),
                GPUPlace(static_cast<int>(world.rank() % 2)));
    });
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(),
              ::testing::StartsWith("several ranks share one GPU (ranks 0, 2, 4; ranks 1, 3): "));
  EXPECT_EQ(told(), "");
  cuda_on_cpu::reset();
}

TEST(TrainingOnGpus, PlainCallsAcrossMeshes) {
  distributed::run_ranks(2, [&](distributed::World& world) {
    distributed::use_gpu();
    const ProcessMesh first({1}, {"x"}, {0}), second({1}, {"x"}, {1});
    const Tensor x = distributed::shard_tensor(gaussian({4, 4}, 0.0f, 1.0f, 7), first, {});
    const Tensor y = distributed::reshard(x, second, {});
    EXPECT_EQ(y.initialized(), world.rank() == 1);
    EXPECT_EQ(y.place(), GPUPlace(static_cast<int>(world.rank())));
  });
}

}  // namespace
}  // namespace phi::training
