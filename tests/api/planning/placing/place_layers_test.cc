// Layouts of modules that do not say how they are split: what they are, what they cost, and that
// the sharded module computes the same.
#include "api/planning/placing/place_layers.h"

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
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/planning/placing/recorded_seconds.h"
#include "api/simulation/record_step.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/recording/recording_world.h"
#include "distributed/simulator/find_machine.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

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

// A decoder's layers are split as Shoeybi et al. 2019 split them, and nobody says so.
TEST(PlaceLayers, ADecoderInANodeIsSplitByColumnsThenByRows) {
  const MachineModel machine = find_machine("h100_80g");
  for (const int64_t ranks : {2, 4, 8}) {
    SCOPED_TRACE(ranks);
    const nn::models::GptConfig config{
        .vocab = 32768, .seq_len = 1024, .d_model = 2048, .layers = 2, .heads = 16, .hidden = 8192};
    nn::models::Gpt model(config);
    const Tensor ids = placeholder({4, 1024}, DataType::INT64, CPUPlace());
    const Tensor labels = placeholder({4, 1024, 1}, DataType::INT64, CPUPlace());
    const auto loss_of = [](const nn::Layer& model) {
      return [&model](const TensorList& in) { return nn::cross_entropy(model(in[0]), in[1]); };
    };
    const ProcessMesh mesh({ranks}, {"tp"});
    const PlacedLayers placed = place_layers(model, loss_of(model), {ids, labels}, mesh, machine);
    SCOPED_TRACE(table(model, placed));
    for (const std::string layer : {"layer0.", "layer1."}) {
      EXPECT_EQ(placement(placed, layer + "qkv.weight"), "S1");
      EXPECT_EQ(placement(placed, layer + "projection.weight"), "S0");
      EXPECT_EQ(placement(placed, layer + "up.weight"), "S1");
      EXPECT_EQ(placement(placed, layer + "down.weight"), "S0");
    }
    const int64_t planned =
        recorded_picoseconds(model, loss_of(model), {ids, labels}, mesh, machine, placed.layout);
    EXPECT_EQ(std::llround(placed.seconds * 1e12), planned);
    for (const bool sequence_parallel : {false, true}) {
      nn::models::Gpt other(config);
      const nn::Layout layout =
          nn::transformer_layout(other, mesh, {.sequence_parallel = sequence_parallel});
      EXPECT_LE(planned,
                recorded_picoseconds(other, loss_of(other), {ids, labels}, mesh, machine, layout));
    }
  }
}

// Fixing a reason's next best placements costs what the reason says.
TEST(PlaceLayers, NextBestPlacementsCostWhatTheReasonSays) {
  const MachineModel machine = find_machine("h100_80g");
  const OwnBlock model(1024, 16);
  const Tensor x = placeholder({4, 512, 1024}, DataType::FLOAT32, CPUPlace());
  const ProcessMesh mesh({4}, {"tp"});
  const PlacedLayers best = place_layers(model, squared_error_of(model), {x, x}, mesh, machine);
  int compared = 0;
  for (const Reason& reason : best.reasons) {
    if (reason.kind != nn::Layout::Kind::kParameters) continue;
    SCOPED_TRACE(reason.to_string());
    ASSERT_EQ(reason.decided, Decided::kCost);
    PlaceLayersOptions options;
    options.pins.parameters(reason.name, {{"tp", reason.next_attr->placement(0)}});
    const PlacedLayers other =
        place_layers(model, squared_error_of(model), {x, x}, mesh, machine, options);
    EXPECT_EQ(std::llround((other.seconds - best.seconds) * 1e12),
              std::llround(reason.next_seconds * 1e12));
    const auto own = std::ranges::find(other.reasons, reason.name, &Reason::name);
    EXPECT_EQ(own->decided, Decided::kPin);
    EXPECT_EQ(own->attr, reason.next_attr);
    EXPECT_EQ(own->to_string(), fmt::format("{} {{tp: {}}}: pin", reason.name,
                                            reason.next_attr->placement(0).to_string()));
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

TEST(PlaceLayers, SaysWhatDecided) {
  const MachineModel machine = find_machine("h100_80g");
  class Odd final : public nn::Layer {
   public:
    Odd() : used_(*this, "used", 15, 9, {}), unused_(*this, "unused", 8, 8, {}) {}
    Tensor forward(const Tensor& x) const override { return used_(x); }

   private:
    nn::Linear used_, unused_;
  } model;
  const Tensor x = placeholder({8, 15}, DataType::FLOAT32, CPUPlace());
  const Tensor y = placeholder({8, 9}, DataType::FLOAT32, CPUPlace());
  PlaceLayersOptions options;
  options.pins.outputs("used", {{"tp", Shard(0)}});
  const PlacedLayers placed = place_layers(model, squared_error_of(model), {x, y},
                                           ProcessMesh({4}, {"tp"}), machine, options);
  std::vector<std::string> said;
  for (const Reason& reason : placed.reasons) said.push_back(reason.to_string());
  EXPECT_EQ(said, (std::vector<std::string>{
                      "used.weight {tp: R}: divisibility", "used.bias {tp: R}: divisibility",
                      "unused.weight {tp: R}: not used", "unused.bias {tp: R}: not used",
                      "outputs of used {tp: S0}: pin",
                      "outputs of (model) {tp: R}: next best as it is, +17.0 us, -0.0 MiB"}));
}

// A module may move an activation itself, in the middle of what a layer computes.
TEST(PlaceLayers, KeepsWhatTheModelReshardsItself) {
  const MachineModel machine = find_machine("h100_80g");
  const ProcessMesh mesh({4}, {"tp"});
  class Resharding final : public nn::Layer {
   public:
    explicit Resharding(const ProcessMesh& mesh)
        : mesh_(mesh),
          weight_(parameter("weight", {1024, 1024}, nn::normal(0.02))),
          other_(parameter("other", {1024, 1024}, nn::normal(0.02))) {}
    Tensor forward(const Tensor& x) const override {
      const Tensor y = distributed::shard_tensor(matmul(x, weight_), mesh_, {Shard(1)});
      return matmul(relu(y), other_);
    }

   private:
    ProcessMesh mesh_;
    const Tensor& weight_;
    const Tensor& other_;
  } model(mesh);
  const Tensor x = placeholder({4096, 1024}, DataType::FLOAT32, CPUPlace());
  const PlacedLayers placed = place_layers(model, squared_error_of(model), {x, x}, mesh, machine);
  SCOPED_TRACE(table(model, placed));
  EXPECT_EQ(placement(placed, "weight"), "S1");
  EXPECT_EQ(placement(placed, "other"), "S0");
  EXPECT_EQ(
      std::llround(placed.seconds * 1e12),
      recorded_picoseconds(model, squared_error_of(model), {x, x}, mesh, machine, placed.layout));
  EXPECT_THAT(
      [&] {
        const ProcessMesh another({4}, {"mp"});
        Resharding other(mesh);
        place_layers(other, squared_error_of(other), {x, x}, another, machine);
      },
      ThrowsError(
          ErrorCode::kInvalidArgument,
          "the model reshards an activation to mesh(tp=4), and the plan is for mesh(mp=4)"));
}

// On two mesh dims the batch stays where the caller splits it.
TEST(PlaceLayers, PlacesOnMeshesOfSeveralDims) {
  const MachineModel machine = find_machine("h100_80g");
  TwoLayers model(4096, 16384);
  const Tensor x = placeholder({16, 256, 4096}, DataType::FLOAT32, CPUPlace());
  const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  PlaceLayersOptions options;
  options.pins.batches({{"dp", Shard(0)}});
  options.pins.parameters("*", {{"dp", Replicate()}});
  const PlacedLayers placed =
      place_layers(model, squared_error_of(model), {x, x}, mesh, machine, options);
  SCOPED_TRACE(table(model, placed));
  const auto attr = [&](const std::string& name) {
    return std::ranges::find(placed.reasons, name, &Reason::name)->attr;
  };
  EXPECT_EQ(attr("up.weight"), distributed::TensorDistAttr::get(mesh, {Replicate(), Shard(1)}));
  EXPECT_EQ(attr("down.weight"), distributed::TensorDistAttr::get(mesh, {Replicate(), Shard(0)}));
}

TEST(PlaceLayers, WhatCannotBePlannedIsAnError) {
  const MachineModel machine = find_machine("h100_80g");
  const Tensor x = placeholder({8, 64}, DataType::FLOAT32, CPUPlace());
  const ProcessMesh mesh({4}, {"tp"});
  TwoLayers model(64, 256);
  const auto place = [&](const PlaceLayersOptions& options) {
    place_layers(model, squared_error_of(model), {x, x}, mesh, machine, options);
  };
  PlaceLayersOptions options;
  options.pins.parameters("upp.weight", {{"tp", Shard(0)}});
  EXPECT_THAT([&] { place(options); },
              ThrowsError(ErrorCode::kNotFound,
                          "'upp.weight' match no name in the model; nearest: "
                          "up.weight"));
  options.pins = nn::Layout().parameters("up.weight", {{"dp", Shard(0)}});
  EXPECT_THAT([&] { place(options); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "parameters 'up.weight' uses mesh dim 'dp', which mesh(tp=4) does not"));
  options.pins = nn::Layout().batches({{"dp", Shard(0)}});
  EXPECT_THAT([&] { place(options); },
              ThrowsError(ErrorCode::kInvalidArgument, "batches uses mesh dim 'dp'"));
  nn::shard(model, ProcessMesh({1}, {"tp"}), {});
  EXPECT_THAT([&] { place({}); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "the model is sharded over mesh(tp=1)"));
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
