// Plans of models that do not say how they are split: against all layouts, and trained.
#include "api/planning/plan_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "api/generated/ops/relu.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/planning/mlp_net.h"
#include "api/tensor/placeholder.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::simulator::MachineModel;

constexpr int64_t kSamples = 8, kSeq = 16, kVocab = 64, kWidth = 32;

class Net final : public MlpNet {
 public:
  explicit Net(int64_t blocks = 4) : MlpNet(blocks, kVocab, kWidth) {}
};

// No links, so no pipeline.
class Flat final : public nn::Layer {
 public:
  Flat() : up_(*this, "up", kWidth, 4 * kWidth, {}), down_(*this, "down", 4 * kWidth, 1, {}) {}
  Tensor forward(const Tensor& x) const override { return down_(relu(up_(x))); }

 private:
  nn::Linear up_, down_;
};

// Two ranks share a node; messages between nodes are slow.
MachineModel slow_links() {
  MachineModel machine;
  machine.launch_overhead_us = 1;
  for (const DataType dtype : {DataType::FLOAT32, DataType::INT64}) {
    machine.families[dtype] = {
        {"matmul", {"matmul", "matmul_grad"}, distributed::simulator::WorkUnit::kFlops, {{1, 1e9}}},
        {"bytes", {}, distributed::simulator::WorkUnit::kBytes, {{1, 1e9}}}};
  }
  machine.links = {{"node", 2, 1, 1}, {"cluster", 0, 5, 0.2}};
  return machine;
}

ModelToPlan net_to_plan() {
  const auto ids = [](const Dims& shape) {
    return placeholder(shape, DataType::INT64, CPUPlace());
  };
  return {.make = [] { return std::make_shared<Net>(); },
          .loss = nn::cross_entropy,
          .batch = {ids({kSamples, kSeq}), ids({kSamples, kSeq, 1})}};
}

ModelToPlan flat_to_plan() {
  const auto floats = [](const Dims& shape) {
    return placeholder(shape, DataType::FLOAT32, CPUPlace());
  };
  return {.make = [] { return std::make_shared<Flat>(); },
          .loss = nn::mean_squared_error,
          .batch = {floats({kSamples, kWidth}), floats({kSamples, 1})}};
}

double seconds_of_best(const PlannedModel& subject, const LayoutSpace& space) {
  double best = 1e9;
  for (const JobLayout& layout : distributed::all_layouts(space)) {
    if (!subject.refusal(layout))
      best = std::min(best, subject.predict(layout).prediction.step_seconds);
  }
  return best;
}

TEST(PlanModel, FindsTheFastestOfAllLayouts) {
  const MachineModel machine = slow_links();
  const LayoutSpace some{.micro_batches = {1, 2},
                         .zero_stages = {0, 1},
                         .recompute = {nn::Recompute::kNone, nn::Recompute::kFull}};
  for (const ModelToPlan& model : {net_to_plan(), flat_to_plan()}) {
    const ModelPlan plan = plan_model(model, 4, machine, {.finalists = 4}, some);
    const PlannedModel subject(model, 4, machine, 0, some);
    EXPECT_LE(plan.result.plans.front().predicted->step_seconds,
              1.02 * seconds_of_best(subject, subject.space()))
        << table(plan);
  }
}

TEST(PlanModel, WithoutLinksThereIsNoPipeline) {
  const MachineModel machine = slow_links();
  const ModelPlan plan = plan_model(flat_to_plan(), 2, machine);
  for (const PlannedLayout& each : plan.result.plans) EXPECT_EQ(each.layout.pp, 1);
}

std::vector<double> losses_of(nn::Layer& model, const training::TrainerOptions& options) {
  training::Trainer trainer(model, nn::cross_entropy, options);
  std::vector<double> losses;
  trainer.on_step(
      [&](int64_t, const training::StepResult& result) { losses.push_back(result.loss); });
  trainer.run(3, [&](int64_t step) {
    const int64_t rows = kSamples / options.micro_batches;
    std::vector<training::Batch> out;
    for (int64_t m = 0; m < options.micro_batches; ++m) {
      std::vector<int64_t> ids(static_cast<size_t>(rows * kSeq));
      std::iota(ids.begin(), ids.end(), step + m * rows * kSeq);
      std::vector<int64_t> labels = ids;
      for (int64_t& id : ids) id %= kVocab;
      for (int64_t& label : labels) label = (label * 7 + 1) % kVocab;
      out.push_back({Tensor::from<int64_t>(ids, {rows, kSeq}),
                     Tensor::from<int64_t>(labels, {rows, kSeq, 1})});
    }
    return out;
  });
  return losses;
}

// Plans that must split the model, each along another mesh dim.
TEST(PlanModel, APlannedModelTrainsAsTheWholeOneDoes) {
  const MachineModel machine = slow_links();
  ModelToPlan model = net_to_plan();
  model.options.rate.peak = 1e-2;
  Net whole;
  const std::vector<double> expected = losses_of(whole, model.options);
  for (const LayoutSpace& fixed : {LayoutSpace{.tp = {4}}, LayoutSpace{.pp = {4}},
                                   LayoutSpace{.dp = {2}, .tp = {2}, .zero_stages = {1}}}) {
    const ModelPlan plan = plan_model(model, 4, machine, {.finalists = 1}, fixed);
    SCOPED_TRACE(table(plan));
    distributed::run_ranks(4, [&](distributed::World&) {
      Net net;
      nn::shard(net, plan.laid_out.mesh, plan.laid_out.layout);
      const std::vector<double> losses = losses_of(net, plan.laid_out.options);
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-4);
    });
  }
}

TEST(PlanModel, FixedKeysWithoutALayoutAreRefused) {
  const ModelToPlan model = net_to_plan();
  const MachineModel machine = slow_links();
  EXPECT_THAT([&] { plan_model(model, 4, machine, {}, {.tp = {3}}); },
              ThrowsError(ErrorCode::kInvalidArgument, "there are layouts with tp 1, 2, 4."));
  EXPECT_THAT([&] { plan_model(model, 4, machine, {}, {.sequence_parallel = {true}}); },
              ThrowsError(ErrorCode::kInvalidArgument, "sequence_parallel cannot be fixed"));
}

// Layouts that are tried on three of six blocks are those of the whole model.
TEST(PlanModel, AShortModelGivesTheSamePlan) {
  const MachineModel machine = slow_links();
  ModelToPlan model = net_to_plan();
  model.make = [] { return std::make_shared<Net>(6); };
  const ModelPlan whole = plan_model(model, 4, machine, {.finalists = 4});
  std::set<int64_t> blocks;
  model.make_short = [&](int64_t n) {
    blocks.insert(n);
    return std::make_shared<Net>(n);
  };
  const ModelPlan tried = plan_model(model, 4, machine, {.finalists = 4});
  EXPECT_EQ(blocks, (std::set<int64_t>{2, 3}));
  EXPECT_EQ(to_string(tried.result.plans.front().layout),
            to_string(whole.result.plans.front().layout));
  EXPECT_EQ(tried.result.plans.front().predicted->step_seconds,
            whole.result.plans.front().predicted->step_seconds);
  const ModelPlan along_tp = plan_model(model, 4, machine, {.finalists = 1}, {.tp = {4}});
  const std::string text = table(along_tp);
  const size_t line = text.find("\n  block*.up.weight {tp: S1}: next best ");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.find(" (6 of them)\n", line), std::string::npos) << text;
  EXPECT_EQ(text.find("block*.up.weight", line + 4), std::string::npos) << text;
}

// Messages take so long that parameters are whole, unless they must not be.
TEST(PlanModel, ParametersAreSplitWhereTheirStatesDoNotFit) {
  MachineModel machine = slow_links();
  machine.links = {{"node", 0, 1, 1e-6}};
  constexpr int64_t kStates = 4 * 4 * (kWidth * 4 * kWidth + 4 * kWidth + 4 * kWidth + 1);
  const auto weight_with = [&](int64_t memory_bytes) {
    const PlannedModel subject(flat_to_plan(), 2, machine, memory_bytes);
    const auto& reasons = subject.placed(2).reasons;
    return std::ranges::find(reasons, "up.weight", &Reason::name)->attr->placement(0).to_string();
  };
  EXPECT_EQ(weight_with(kStates), "R");
  EXPECT_NE(weight_with(kStates - 1), "R");
}

TEST(PlanModel, SplitsProductsUntoldAndSaysWhy) {
  const ModelPlan plan = plan_model(net_to_plan(), 2, slow_links(), {.finalists = 1}, {.tp = {2}});
  const auto reason = std::ranges::find(plan.reasons, "block1.up.weight", &Reason::name);
  ASSERT_NE(reason, plan.reasons.end());
  EXPECT_EQ(reason->attr->placement(0).to_string(), "S1");
  const std::string text = table(plan);
  const size_t line = text.find("\n  block*.up.weight {tp: S1}: next best ");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.find(" (4 of them)\n", line), std::string::npos) << text;
  EXPECT_EQ(text.find("block*.up.weight", line + 4), std::string::npos) << text;
}

TEST(PlanModel, KeepsPins) {
  ModelToPlan model = net_to_plan();
  model.pins.parameters("block*.up.weight", {{"tp", Replicate()}});
  const ModelPlan plan = plan_model(model, 2, slow_links(), {.finalists = 1}, {.tp = {2}});
  const auto reason = std::ranges::find(plan.reasons, "block1.up.weight", &Reason::name);
  ASSERT_NE(reason, plan.reasons.end());
  EXPECT_EQ(reason->to_string(), "block1.up.weight {tp: R}: pin");
}

TEST(PlanModel, SaysWhatIsMissingAndWhatDoesNotFit) {
  const MachineModel machine = slow_links();
  ModelToPlan unmade = net_to_plan();
  unmade.make = nullptr;
  EXPECT_THAT(
      [&] { plan_model(unmade, 2, machine); },
      ThrowsError(ErrorCode::kInvalidArgument, "plan_model: `make` is missing; pass a function."));
  ModelToPlan short_of = net_to_plan();
  short_of.make_short = [](int64_t blocks) { return std::make_shared<Net>(blocks + 1); };
  EXPECT_THAT([&] { plan_model(short_of, 2, machine); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "plan_model: `make_short` was asked for 3 links 'block*' and made 4."));
  ModelToPlan odd = net_to_plan();
  odd.batch.labels = placeholder({3, 1}, DataType::INT64, CPUPlace());
  EXPECT_THAT([&] { plan_model(odd, 2, machine); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "plan_model: inputs [8,16] and labels [3,1] need the same dim 0, the "
                          "samples of a step."));
  EXPECT_THAT([&] { plan_model(net_to_plan(), 2, machine, {.memory_bytes = 1000}); },
              ThrowsError(ErrorCode::kResourceExhausted, "possible layouts fits into 1000 B"));
  EXPECT_THAT(
      [&] { plan_model(flat_to_plan(), 2, machine, {}, {.recompute = {nn::Recompute::kFull}}); },
      ThrowsError(ErrorCode::kResourceExhausted,
                  "full recomputation needs a Sequential with repeated links"));
}

}  // namespace
}  // namespace phi::planning
