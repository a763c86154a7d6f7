// Composed steps against the same steps recorded whole, and against times computed by hand.
#include "api/simulation/composed_step.h"

#include <gtest/gtest.h>

#include "api/generated/api.h"
#include "api/generated/ops/reshape.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/simulation/record_step.h"
#include "distributed/api.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::simulation {
namespace {

using distributed::ProcessMesh;
using distributed::RecordingWorld;
using distributed::World;
using distributed::pipeline::make_schedule;
using distributed::pipeline::ScheduleKind;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::RankProgram;
using distributed::simulator::WorkUnit;

// Launches, issues, calls and messages all take time.
MachineModel small_machine() {
  MachineModel machine;
  machine.launch_overhead_us = 3;
  machine.issue_us = 2;
  machine.call_overhead_us = 5;
  for (const DataType dtype : {DataType::FLOAT32, DataType::INT64}) {
    machine.families[dtype] = {{"matmul", {"matmul"}, WorkUnit::kFlops, {{1e3, 1e9}, {1e6, 1e10}}},
                               {"bytes", {}, WorkUnit::kBytes, {{1e3, 1e9}}}};
  }
  machine.links = {{"node", 2, 1, 10}, {"cluster", 0, 4, 1}};
  return machine;
}

constexpr size_t kLayers = 3;

// What each rank of tp does: the step as a whole, and its parts.
struct Recorded {
  RankPrograms step;
  Body input, layer, output;
};

void record_bodies(int64_t rank, int64_t tp, Recorded* out) {
  RecordingWorld world(rank, tp);
  const World::Scope scope(world);
  const auto model = nn::models::make(nn::models::GptConfig{
      .vocab = 32, .seq_len = 8, .d_model = 16, .layers = kLayers, .heads = 2, .hidden = 32});
  model->initialise(3, DataType::FLOAT32);
  const ProcessMesh mesh({tp}, {"tp"});
  nn::shard(*model, mesh, nn::transformer_layout(*model, mesh, {}));
  for (Tensor parameter : model->parameters()) parameter.set_requires_grad();
  const Tensor ids = full({2, 8}, 3, DataType::INT64);
  const Tensor labels = reshape(ids, {2, 8, 1});
  const auto record = [&](RankPrograms* to, const std::function<void()>& step) {
    to->push_back(record_step(world, step));
  };
  Tensor x, y;
  const auto record_link = [&](size_t link, Body* body) {
    x = link == 0 ? ids : y.detach();
    if (link != 0) x.set_requires_grad();
    record(&body->forward, [&] { y = model->link(link)(x); });
    const Tensor grad = y.detach();
    record(&body->backward, [&] { y.backward(grad); });
  };
  record_link(0, &out->input);
  record_link(1, &out->layer);
  x = y.detach();
  x.set_requires_grad();
  record(&out->output.forward, [&] { y = nn::cross_entropy(model->link(1 + kLayers)(x), labels); });
  record(&out->output.backward, [&] { y.backward(); });
  for (Tensor parameter : model->parameters()) parameter.clear_grad();
  record(&out->step, [&] { nn::cross_entropy((*model)(ids), labels).backward(); });
}

TEST(ComposedStep, TakesAsLongAsTheStepRecordedWhole) {
  for (const int64_t tp : {1, 2}) {
    SCOPED_TRACE(tp);
    Recorded recorded;
    for (int64_t rank = 0; rank < tp; ++rank) record_bodies(rank, tp, &recorded);
    const MachineModel machine = small_machine();
    const double whole = distributed::simulator::simulate(recorded.step, machine).seconds;

    ComposedStep step;
    step.schedule = make_schedule(ScheduleKind::k1F1B, 1, 1);
    step.parts = {{{std::make_shared<Body>(recorded.input), 1},
                   {std::make_shared<Body>(recorded.layer), static_cast<int64_t>(kLayers)},
                   {std::make_shared<Body>(recorded.output), 1}}};
    step.ranks_per_stage = tp;
    step.updates = {{}};
    BodyTimes times(machine);
    // Parts keep the gradients of their inputs, which the whole step frees.
    EXPECT_NEAR(simulate(step, times) / whole, 1, 0.03);
    EXPECT_GT(whole, 1e-4);
  }
}

RankPrograms of_seconds(double seconds) {
  return {{{Computation{.op = "work", .dtype = DataType::FLOAT32, .seconds = seconds}}, {}}};
}

constexpr double kForward = 2, kBackward = 3;

ComposedStep of_stages(ScheduleKind kind, int stages, int micro_batches) {
  const auto body = std::make_shared<Body>(Body{of_seconds(kForward), of_seconds(kBackward)});
  ComposedStep step;
  step.schedule = make_schedule(kind, stages, micro_batches);
  step.parts.assign(static_cast<size_t>(stages), {{body, 1}});
  step.updates.resize(static_cast<size_t>(stages));
  return step;
}

// Messages take no time.
MachineModel without_messages() {
  MachineModel machine = small_machine();
  machine.launch_overhead_us = machine.issue_us = machine.call_overhead_us = 0;
  machine.links = {{"node", 0, 0, 1e300}};
  return machine;
}

TEST(ComposedStep, APipelineHasItsSchedulesBubble) {
  const MachineModel machine = without_messages();
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kGPipe}) {
    BodyTimes times(machine);
    EXPECT_DOUBLE_EQ(simulate(of_stages(kind, 4, 8), times), (8 + 4 - 1) * (kForward + kBackward));
  }
}

TEST(ComposedStep, MessagesReceiptsTiesAndUpdatesTakeTheirTimes) {
  MachineModel machine = without_messages();
  machine.links = {{"node", 0, 0, 1e-9}};  // a byte per second
  ComposedStep step = of_stages(ScheduleKind::k1F1B, 2, 1);
  step.bytes_between = 10;
  step.after_receive = of_seconds(0.5);
  const double passes = 2 * (kForward + kBackward) + 2 * (10 + 0.5);
  BodyTimes times(machine);
  EXPECT_DOUBLE_EQ(simulate(step, times), passes);
  step.tied_bytes = 7;
  EXPECT_DOUBLE_EQ(simulate(step, times), passes + 7);
  step.updates = {of_seconds(1), of_seconds(4)};
  EXPECT_DOUBLE_EQ(simulate(step, times), passes + 7 + 4);
}

TEST(ComposedStep, NeighboursAreConnectedByTheirRanksLinks) {
  MachineModel machine = without_messages();
  machine.links = {{"node", 4, 0, 1e300}, {"cluster", 0, 1e6, 1e300}};  // a second between nodes
  ComposedStep step = of_stages(ScheduleKind::k1F1B, 2, 1);
  step.bytes_between = 1;
  BodyTimes times(machine);
  step.ranks_per_stage = 2;
  EXPECT_DOUBLE_EQ(simulate(step, times), 2 * (kForward + kBackward));
  step.ranks_per_stage = 4;
  EXPECT_DOUBLE_EQ(simulate(step, times), 2 * (kForward + kBackward) + 2);
}

TEST(ComposedStep, TheRanksOfAStageShareTheirLinks) {
  MachineModel machine = without_messages();
  machine.links = {{"node", 4, 0, 1e300}, {"cluster", 0, 0, 1e-9}};  // a byte per second
  ComposedStep step = of_stages(ScheduleKind::k1F1B, 2, 1);
  step.bytes_between = 10;
  step.ranks_per_stage = 4;
  const auto seconds_of_messages = [&](int64_t shared_by) {
    machine.links.back().shared_by = shared_by;
    BodyTimes times(machine);
    return simulate(step, times) - 2 * (kForward + kBackward);
  };
  EXPECT_DOUBLE_EQ(seconds_of_messages(1), 2 * 10);
  EXPECT_DOUBLE_EQ(seconds_of_messages(2), 2 * 2 * 10);
  EXPECT_DOUBLE_EQ(seconds_of_messages(4), 2 * 4 * 10);
  EXPECT_DOUBLE_EQ(seconds_of_messages(8), 2 * 4 * 10);  // the stages send in turns
}

TEST(ComposedStep, RefusesWhatCannotBeComposed) {
  const MachineModel machine = without_messages();
  BodyTimes times(machine);
  ComposedStep step = of_stages(ScheduleKind::k1F1B, 4, 8);
  const auto call = [&] { simulate(step, times); };
  step.parts.pop_back();
  EXPECT_THAT(call, ThrowsError(ErrorCode::kInvalidArgument,
                                "parts of 3 virtual stages, and its schedule has 4"));
  step = of_stages(ScheduleKind::k1F1B, 4, 8);
  step.updates.pop_back();
  EXPECT_THAT(call, ThrowsError(ErrorCode::kInvalidArgument,
                                "updates of 3 stages, and its schedule has 4"));
  step = of_stages(ScheduleKind::k1F1B, 2, 8);
  step.schedule = make_schedule(ScheduleKind::kInterleaved, 2, 8, 2);
  step.parts.resize(4, step.parts.front());
  EXPECT_THAT(call, ThrowsError(ErrorCode::kInvalidArgument, "two stages of 2 chunks"));
}

TEST(BodyTimes, OtherRanksUseSharedLinksToo) {
  MachineModel machine = without_messages();
  machine.links = {{"node", 4, 0, 1e300}, {"cluster", 0, 0, 1e-9, 4}};  // a byte per second
  RankPrograms programs(5);
  const distributed::simulator::GroupCall reduce{
      .op = "all_reduce",
      .pattern = distributed::simulator::CallPattern::kDirect,
      .peers = {{1, 1, 10, 1, 10}}};
  programs[0] = programs[4] = {{reduce}, {{0, 4}}};
  EXPECT_DOUBLE_EQ(BodyTimes(machine).seconds_of(programs), 4 * 10);
}

}  // namespace
}  // namespace phi::simulation
