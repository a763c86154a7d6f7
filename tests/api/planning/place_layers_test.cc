// Layouts of modules that do not say how they are split: what they are, what they cost, and that
// the sharded module computes the same.
#include "api/planning/place_layers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "api/autograd/autograd.h"
#include "api/generated/api.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/planning/recorded_seconds.h"
#include "api/simulation/record_step.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/recording/recording_world.h"
#include "distributed/simulator/find_machine.h"
#include "phi/tensor_api.h"

namespace phi::planning {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::simulator::find_machine;
using distributed::simulator::MachineModel;

// Two layers of linear maps, without a word of how they are split.
class TwoLayers final : public nn::Layer {
 public:
  TwoLayers(int64_t d, int64_t hidden)
      : up_(*this, "up", d, hidden, {}), down_(*this, "down", hidden, d, {}) {}
  Tensor forward(const Tensor& x) const override { return down_(relu(up_(x))); }

 private:
  nn::Linear up_, down_;
};

std::string placement(const PlacedLayers& placed, const std::string& name) {
  for (const Reason& reason : placed.reasons) {
    if (reason.name == name && reason.kind == nn::Layout::Kind::kParameters)
      return reason.attr->placement(0).to_string();
  }
  return "none";
}

std::string table(const nn::Module& model, const PlacedLayers& placed) {
  std::string text = placed.layout.describe(model);
  for (const Reason& reason : placed.reasons) text += reason.to_string() + "\n";
  return text;
}

LossFunction squared_error_of(const nn::Layer& model) {
  return [&model](const TensorList& in) { return nn::mean_squared_error(model(in[0]), in[1]); };
}

TEST(PlaceLayers, TwoMatmulsAreSplitByColumnsThenByRows) {
  const MachineModel machine = find_machine("h100_80g");
  for (const int64_t ranks : {2, 4, 8}) {
    SCOPED_TRACE(ranks);
    TwoLayers model(4096, 16384);
    const Tensor x = placeholder({8, 1024, 4096}, DataType::FLOAT32, CPUPlace());
    const ProcessMesh mesh({ranks}, {"tp"});
    const PlacedLayers placed = place_layers(model, squared_error_of(model), {x, x}, mesh, machine);
    SCOPED_TRACE(table(model, placed));
    EXPECT_EQ(placement(placed, "up.weight"), "S1");
    EXPECT_EQ(placement(placed, "up.bias"), "S0");
    EXPECT_EQ(placement(placed, "down.weight"), "S0");
  }
}

// Attention and an MLP between residuals and norms, of plain linear maps and operators.
class OwnBlock final : public nn::Layer {
 public:
  OwnBlock(int64_t d, int64_t heads)
      : heads_(heads),
        norm_(*this, "norm", d),
        query_(*this, "query", d, d, {}),
        key_(*this, "key", d, d, {}),
        value_(*this, "value", d, d, {}),
        out_(*this, "out", d, d, {}),
        norm_mlp_(*this, "norm_mlp", d),
        up_(*this, "up", d, 4 * d, {}),
        down_(*this, "down", 4 * d, d, {}) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor h = norm_(x);
    const Tensor mixed =
        std::get<0>(flash_attention(split(query_(h)), split(key_(h)), split(value_(h)),
                                    std::nullopt, std::nullopt, 0.0f, /*causal=*/true,
                                    /*return_softmax=*/false, /*is_test=*/true));
    const Tensor y = add(x, out_(reshape(mixed, {x.shape()[0], x.shape()[1], x.shape()[2]})));
    return add(y, down_(gelu(up_(norm_mlp_(y)))));
  }

 private:
  Tensor split(const Tensor& x) const {
    return reshape(x, {x.shape()[0], x.shape()[1], heads_, x.shape()[2] / heads_});
  }
  int64_t heads_;
  nn::LayerNorm norm_;
  nn::Linear query_, key_, value_, out_;
  nn::LayerNorm norm_mlp_;
  nn::Linear up_, down_;
};

// Launches and messages take time, and the ranks' links are slow.
MachineModel small_machine() {
  MachineModel machine;
  machine.launch_overhead_us = 3;
  machine.issue_us = 2;
  machine.call_overhead_us = 5;
  for (const DataType dtype : {DataType::FLOAT32, DataType::INT64}) {
    machine.families[dtype] = {
        {"matmul", {"matmul"}, distributed::simulator::WorkUnit::kFlops, {{1e3, 1e9}, {1e6, 1e10}}},
        {"bytes", {}, distributed::simulator::WorkUnit::kBytes, {{1e3, 1e9}}}};
  }
  machine.links = {{"node", 2, 1, 10}, {"cluster", 0, 4, 1}};
  return machine;
}

// The picoseconds of a recorded step of the sharded model, with all that the prediction contains.
int64_t recorded_picoseconds(nn::Layer& model, const LossFunction& loss, const TensorList& inputs,
                             const ProcessMesh& mesh, const MachineModel& machine,
                             const nn::Layout& layout) {
  distributed::RecordingWorld world(0, mesh.size());
  const distributed::World::Scope scope(world);
  nn::shard(model, mesh, layout);
  TensorList placed, parameters = model.parameters();
  for (const Tensor& x : inputs)
    placed.push_back(distributed::placeholder(x.shape(), x.dtype(), mesh, {}));
  for (Tensor& parameter : parameters) parameter.set_requires_grad();
  const auto program = simulation::record_step(world, [&] {
    const Tensor y = loss(placed);
    distributed::reshard(y, mesh, {});
    y.backward();
    for (const Tensor& parameter : parameters) parameter.grad();
  });
  return picoseconds_of(program, 0, mesh.size(), machine);
}

TEST(PlaceLayers, PredictsWhatTheShardedModelDoes) {
  for (const MachineModel& machine : {small_machine(), find_machine("h100_80g")}) {
    for (const int64_t ranks : {1, 2, 4, 8}) {
      SCOPED_TRACE(fmt::format("{} ranks on {}", ranks, machine.device));
      OwnBlock model(1024, 16);
      const LossFunction loss = squared_error_of(model);
      const Tensor x = placeholder({4, 512, 1024}, DataType::FLOAT32, CPUPlace());
      const ProcessMesh mesh({ranks}, {"tp"});
      const PlacedLayers placed = place_layers(model, loss, {x, x}, mesh, machine);
      SCOPED_TRACE(table(model, placed));
      EXPECT_EQ(std::llround(placed.seconds * 1e12),
                recorded_picoseconds(model, loss, {x, x}, mesh, machine, placed.layout));
    }
  }
}

// Losses of three steps of gradient descent.
std::vector<double> losses_of(nn::Layer& model, const TensorList& inputs) {
  const LossFunction loss = squared_error_of(model);
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    TensorList parameters = model.parameters();
    for (Tensor& parameter : parameters) parameter.set_requires_grad();
    const Tensor y = loss(inputs);
    losses.push_back(y.is_dist() ? distributed::gathered_everywhere(y).item() : y.item());
    y.backward();
    const NoGrad no_grad;
    for (Tensor& parameter : parameters) {
      const Tensor grad = parameter.grad();
      parameter.clear_grad();
      add_(parameter, scale(grad, -0.1f));
    }
  }
  return losses;
}

TensorList random_inputs(const Dims& shape) {
  TensorList inputs;
  for (const uint64_t seed : {1, 2}) {
    std::vector<float> values(static_cast<size_t>(shape.numel()));
    std::mt19937_64 rng(seed);
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(rng);
    inputs.push_back(Tensor::from(std::move(values), shape));
  }
  return inputs;
}

using MakeModel = std::function<std::unique_ptr<nn::Layer>()>;

void expect_equal_losses(int64_t ranks, const Dims& shape, const MakeModel& make) {
  const std::vector<double> expected = losses_of(*make(), random_inputs(shape));
  distributed::run_ranks(ranks, [&](distributed::World&) {
    const auto owned = make();
    nn::Layer& model = *owned;
    const ProcessMesh mesh({ranks}, {"tp"});
    const TensorList inputs = random_inputs(shape);
    const PlacedLayers placed =
        place_layers(model, squared_error_of(model), inputs, mesh, small_machine());
    SCOPED_TRACE(table(model, placed));
    EXPECT_TRUE(std::ranges::any_of(placed.reasons, [](const Reason& reason) {
      return reason.kind == nn::Layout::Kind::kParameters && !reason.attr->is_replicated();
    }));
    nn::shard(model, mesh, placed.layout);
    TensorList shared;
    for (const Tensor& x : inputs) shared.push_back(distributed::shard_tensor(x, mesh, {}));
    const std::vector<double> losses = losses_of(model, shared);
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-5 * expected[i]) << i;
  });
}

TEST(PlaceLayers, TheShardedModelHasTheSameLosses) {
  for (const int64_t ranks : {2, 4}) {
    SCOPED_TRACE(ranks);
    expect_equal_losses(ranks, {4, 8, 64}, [] { return std::make_unique<TwoLayers>(64, 256); });
    expect_equal_losses(ranks, {4, 8, 64}, [] { return std::make_unique<OwnBlock>(64, 4); });
  }
}

}  // namespace
}  // namespace phi::planning
