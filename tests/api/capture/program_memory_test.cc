// Programs under memory limits: the same bits, parameters that come and go, and what the user does
// to them between runs. Also where the rank computes on a device of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/add.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/subtract.h"
#include "api/generated/ops/tanh.h"
#include "distributed/simulator/machine.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/test_place.h"

namespace phi {
namespace {

using distributed::simulator::MachineModel;
using distributed::simulator::WorkUnit;

constexpr int64_t kWidth = 64;  // a weight is 16 KiB

std::vector<float> values_of(const Tensor& x) { return x.to_vector<float>(); }

TensorList make_weights(int count) {
  TensorList weights;
  for (int i = 0; i < count; ++i) {
    weights.push_back(deferred_gaussian({kWidth, kWidth}, 0.0f, 0.1f, static_cast<uint64_t>(i)));
  }
  return weights;
}

Tensor input() {
  Tensor x = deferred_gaussian({4, kWidth}, 0.0f, 1.0f, 99);
  x.dense().raw_data();
  return x;
}

// A chain of products; with `rate` each weight is written to.
Program::Function chain(const TensorList& weights, float rate = 0.0f) {
  return [&weights, rate](const TensorList& in) {
    Tensor x = in[0];
    for (Tensor w : weights) {
      x = tanh(matmul(x, w));
      if (rate != 0.0f) subtract_(w, scale(w, rate));
    }
    return TensorList{x};
  };
}

constexpr int64_t kRoom = 400 << 10;  // beside the margin of 64 KiB

ProgramMemory limited(int64_t device, int64_t host = int64_t{1} << 30) {
  return {.limits = {.device_bytes = device, .host_bytes = host}};
}

TEST(ProgramMemory, TheSameBitsWithWeightsThatDoNotFit) {
  const TensorList weights = make_weights(64);  // 1 MiB
  const TensorList eager_weights = make_weights(64);
  const Program program = capture(chain(weights, 0.5f), {input()});
  program.limit_memory(limited(kRoom));
  for (int run = 0; run < 3; ++run) {
    const Tensor expected = chain(eager_weights, 0.5f)({input()})[0];
    EXPECT_EQ(values_of(program.run({input()})[0]), values_of(expected)) << run;
  }
  EXPECT_LE(program.arena_bytes(), kRoom);
  EXPECT_GT(program.swap_stats().transfers.of(Tier::kDevice, Tier::kHost).bytes, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(weights[i].dense().storage()->state(), StorageState::kSwapped);
    EXPECT_EQ(values_of(weights[i]), values_of(eager_weights[i]));
  }
}

std::shared_ptr<const MachineModel> machine_of(DataType dtype, double per_second) {
  MachineModel machine;
  machine.families[dtype] = {{"matmul", {}, WorkUnit::kFlops, {{1, per_second}}},
                             {"bytes", {}, WorkUnit::kBytes, {{1, per_second}}}};
  return std::make_shared<const MachineModel>(machine);
}

// How many launches before it is due each transfer to the device begins, in total.
int lead_of_prefetches(const memory::SwapPlan& plan) {
  int lead = 0;
  for (const memory::SwapAction& action : plan.actions) {
    if (action.from == Tier::kHost && action.to == Tier::kDevice) lead += action.due - action.issue;
  }
  return lead;
}

TEST(ProgramMemory, AFastMachineBeginsTransfersEarlier) {
  const TensorList weights = make_weights(64);
  std::vector<int> leads;
  for (const double per_second : {1e6, 1e14}) {
    const Program program = capture(chain(weights), {input()});
    ProgramMemory memory = limited(kRoom);
    memory.machine = machine_of(DataType::FLOAT32, per_second);
    program.limit_memory(memory);
    leads.push_back(lead_of_prefetches(program.swap_plan()));
  }
  EXPECT_LT(leads[0], leads[1]);
}

TEST(ProgramMemory, AMachineWithoutRatesOfTheDtypeIsRefused) {
  const TensorList weights = make_weights(64);
  const Program program = capture(chain(weights), {input()});
  ProgramMemory memory = limited(kRoom);
  memory.machine = machine_of(DataType::FLOAT64, 1e9);
  program.limit_memory(memory);
  EXPECT_THAT([&] { program.run({input()}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "computes in float32, and the machine has rates of float64"));
}

TEST(ProgramMemory, WhatTheUserWritesBetweenRunsIsSeen) {
  TensorList weights = make_weights(40);
  const Program program = capture(chain(weights), {input()});
  program.limit_memory(limited(kRoom));
  program.run({input()});
  {
    const NoGrad no_grad;
    scale_(weights[7], 2.0);
  }
  weights[9].replace(deferred_gaussian({kWidth, kWidth}, 0.0f, 0.1f, 1234));
  TensorList eager_weights = make_weights(40);
  scale_(eager_weights[7], 2.0);
  eager_weights[9] = deferred_gaussian({kWidth, kWidth}, 0.0f, 0.1f, 1234);
  const Tensor expected = chain(eager_weights)({input()})[0];
  EXPECT_EQ(values_of(program.run({input()})[0]), values_of(expected));
  EXPECT_EQ(weights[7].dense().storage()->state(), StorageState::kSwapped);
}

TEST(ProgramMemory, AConstantThatIsWrittenToBeginsEachRunAnew) {
  const auto f = [](const TensorList& in) {
    Tensor sum = deferred_full({4, kWidth}, 1.0f);
    add_(sum, in[0]);
    return TensorList{scale(sum, 1.0)};
  };
  const Tensor x = input();
  for (const bool bound : {false, true}) {
    const Program program = capture(f, {x});
    if (bound) program.limit_memory(limited(kRoom));
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(values_of(program.run({x})[0]), values_of(f({x})[0])) << run;
    }
  }
}

TEST(ProgramMemory, WithoutLimitsTheUserMayReplaceParametersToo) {
  TensorList weights = make_weights(3);
  const Program program = capture(chain(weights), {input()});
  program.run({input()});
  weights[1].replace(deferred_gaussian({kWidth, kWidth}, 0.0f, 0.1f, 77));
  EXPECT_EQ(values_of(program.run({input()})[0]), values_of(chain(weights)({input()})[0]));
}

TEST(ProgramMemory, LimitsThatAreTooSmallOrTooLate) {
  const TensorList weights = make_weights(8);
  const Program small = capture(chain(weights), {input()});
  small.limit_memory(limited(80 << 10));
  EXPECT_THAT([&] { small.run({input()}); }, ThrowsError(ErrorCode::kResourceExhausted, "least"));
  const Program late = capture(chain(weights), {input()});
  late.run({input()});
  EXPECT_THAT([&] { late.limit_memory(limited(kRoom)); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "before the first run"));
}

TEST(ProgramMemory, TheDevicesLimitIsHard) {
  RankContext context;
  const RankContext::Scope scope(context);
  context.memory()->set_device_limit(100'000);
  const Tensor held = full({20'000}, 1.0f);
  EXPECT_THAT([] { full({20'000}, 1.0f); },
              ThrowsError(ErrorCode::kResourceExhausted, "limited to 100000 bytes"));
  EXPECT_EQ(memory_stats(CPUPlace()).current, 80'000);
}

}  // namespace
}  // namespace phi
