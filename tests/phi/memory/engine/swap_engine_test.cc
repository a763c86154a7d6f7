// Plans run for real: values bit for bit as without limits, limits and counters kept, faults told.
#include "phi/memory/engine/swap_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "engine_run.h"
#include "phi/core/rank_context.h"
#include "phi/memory/engine/plan_arena.h"
#include "tests/phi/memory/io/faulty_engine.h"
#include "tests/phi/memory/plan/check_plan.h"
#include "tests/phi/memory/plan/random_program.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/support/error_matchers.h"
#include "tests/support/guarded_device.h"

namespace phi::memory {
namespace {

constexpr int64_t kKiB = 1024;
using enum BufferAccess;

/// A training step with Adam-like states: forth, back, update. 4 buffers of 64 KiB per layer.
SwapProgram training(int32_t layers) {
  SwapProgram program;
  const auto add = [&](const char* name, bool stays) {
    program.buffers.push_back({name, 64 * kKiB, stays, stays});
    return static_cast<SwapBufferId>(program.buffers.size()) - 1;
  };
  std::vector<SwapBufferId> w, m, v, a{0};
  program.buffers.push_back({"input", 64 * kKiB, true, false});
  for (int32_t i = 0; i < layers; ++i) {
    w.push_back(add("w", true));
    m.push_back(add("m", true));
    v.push_back(add("v", true));
    a.push_back(add("a", false));
    const auto at = static_cast<size_t>(i);
    program.steps.push_back({.name = "forward",
                             .operands = {{a[at], kRead}, {w[at], kRead}, {a[at + 1], kWrite}},
                             .scratch_bytes = 1000,
                             .seconds = 1e-4});
  }
  SwapBufferId d = add("d", false);
  program.steps.push_back({.name = "loss", .operands = {{a.back(), kRead}, {d, kWrite}}});
  for (int32_t i = layers; i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const SwapBufferId g = add("g", false), below = add("d", false);
    program.steps.push_back(
        {.name = "backward",
         .operands = {{d, kRead}, {a[at], kRead}, {w[at], kRead}, {g, kWrite}, {below, kWrite}},
         .seconds = 2e-4});
    program.steps.push_back(
        {.name = "adam",
         .operands = {{w[at], kUpdate}, {m[at], kUpdate}, {v[at], kUpdate}, {g, kRead}},
         .seconds = 1e-4});
    d = below;
  }
  program.steps.push_back({.name = "end", .operands = {{d, kRead}}});
  return program;
}

void expect_limits_and_counters(const SwapEngine& engine, int64_t runs) {
  const SwapPlan& plan = engine.plan();
  const SwapEngineStats stats = engine.stats();
  for (Tier tier : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
    EXPECT_LE(stats.peak_bytes[static_cast<size_t>(tier)], plan.limits.of(tier)) << name_of(tier);
    for (Tier to : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
      EXPECT_EQ(stats.transfers.of(tier, to).bytes, runs * plan.transfers.of(tier, to).bytes);
      EXPECT_EQ(stats.transfers.of(tier, to).count, runs * plan.transfers.of(tier, to).count);
    }
  }
}

TEST(SwapEngine, StatesOfFourTimesTheDevice_GiveTheSameValues) {
  const SwapProgram program = training(12);
  const int64_t states = int64_t{12} * 3 * 64 * kKiB;
  for (const int64_t host : {2 * states, states, states / 4}) {
    const MemoryLimits limits{
        .device_bytes = states / 4, .host_bytes = host, .disk_bytes = 2 * states};
    SwapPlan plan = make_swap_plan(program, limits);
    check_plan(plan, program);
    SwapEngine engine(std::move(plan));
    expect_values_of_plain_run(engine, program);
    expect_limits_and_counters(engine, 3);
    EXPECT_GT(engine.stats().transfer_seconds, 0);
  }
}

TEST(SwapEngine, OperatorByOperator_TheLeastDeviceLimitIsEnough) {
  const SwapProgram program = training(4);
  const MemoryLimits limits{.device_bytes = least_device_bytes(program),
                            .host_bytes = 512 * kKiB,
                            .disk_bytes = 4096 * kKiB};
  SwapEngine engine(make_swap_plan(program, limits));
  expect_values_of_plain_run(engine, program);
  expect_limits_and_counters(engine, 3);
}

TEST(SwapEngine, RandomPrograms_GiveTheSameValues) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProgram random(seed);
    const SwapProgram program = random.make();
    SwapEngine engine(
        make_swap_plan(program, {.device_bytes = least_device_bytes(program),
                                 .host_bytes = kLeastStaging + random.pick(0, bytes_below(program)),
                                 .disk_bytes = bytes_below(program)}));
    expect_values_of_plain_run(engine, program);
    expect_limits_and_counters(engine, 3);
    if (HasFatalFailure()) return;
  }
}

// Where the host does not reach what the steps compute on.
TEST(SwapEngine, OnADeviceOfItsOwn_TheSameValues) {
  const Place place = phi::testing::guarded_device(0);
  for (uint32_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProgram random(seed);
    const SwapProgram program = random.make();
    for (const bool bound : {false, true}) {
      MemoryLimits limits;
      if (bound) {
        limits = {.device_bytes = least_device_bytes(program),
                  .host_bytes = kLeastStaging + random.pick(0, bytes_below(program)),
                  .disk_bytes = bytes_below(program)};
      }
      SwapEngine engine(make_swap_plan(program, limits), {.place = place});
      expect_values_of_plain_run(engine, program);
      if (bound) expect_limits_and_counters(engine, 3);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(PlanArena, MovesOverlapAndMemoryIsGivenBack) {
  for (const Place& place : {CPUPlace(), phi::testing::guarded_device(1)}) {
    SCOPED_TRACE(place.to_string());
    {
      PlanArena arena(256, place);
      Bytes value(256);
      fill(value.data(), 256, 5);
      for (const auto& [to, from, n] : {std::array<int64_t, 3>{0, 100, 130},
                                        {100, 0, 130},
                                        {7, 0, 249},
                                        {0, 7, 249},
                                        {128, 0, 128},
                                        {3, 3, 9},
                                        {9, 3, 0}}) {
        arena.write(0, std::as_bytes(std::span(value)));
        arena.move(to, from, static_cast<size_t>(n));
        Bytes expected = value;
        std::memmove(expected.data() + to, value.data() + from, static_cast<size_t>(n));
        Bytes got(256);
        arena.read(0, std::as_writable_bytes(std::span(got)));
        EXPECT_EQ(got, expected) << to << " from " << from;
      }
      const PlanArena empty(0, place);
    }
    if (place != CPUPlace()) {
      EXPECT_EQ(phi::testing::guarded_device_at(1).held(), 0U);
    }
  }
}

TEST(SwapEngine, CountsTransfersOfTheCallersRank) {
  RankContext rank;
  const RankContext::Scope scope(rank);
  const SwapProgram program = training(8);
  SwapEngine engine(make_swap_plan(
      program, {.device_bytes = 512 * kKiB, .host_bytes = 512 * kKiB, .disk_bytes = 4096 * kKiB}));
  put_inputs(engine, program, 0);
  reset_transfer_stats();
  run_once(engine, program);
  for (Tier from : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
    for (Tier to : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
      EXPECT_EQ(transfer_stats().of(from, to), engine.plan().transfers.of(from, to));
    }
  }
}

TEST(SwapEngine, WithoutLimits_NothingMovesAndValuesAreTheSame) {
  const SwapProgram program = training(4);
  SwapEngine engine(make_swap_plan(program, {}));
  expect_values_of_plain_run(engine, program);
  EXPECT_EQ(engine.stats().wait_seconds, 0);
}

TEST(SwapEngine, LaunchesAreSkippedWhereNothingMoves) {
  const SwapProgram program = training(4);
  SwapEngine resting(make_swap_plan(program, {}));
  EXPECT_THAT([&] { resting.skip_launches(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "outside of a run"));
  put_inputs(resting, program, 0);
  resting.begin_run();
  resting.skip_launches();
  resting.end_run();
  SwapEngine moving(make_swap_plan(program, {.device_bytes = least_device_bytes(program),
                                             .host_bytes = 512 * kKiB,
                                             .disk_bytes = 4096 * kKiB}));
  put_inputs(moving, program, 0);
  moving.begin_run();
  EXPECT_THAT([&] { moving.skip_launches(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, " transfers; run them one by one"));
}

MemoryLimits with_disk() {
  return {.device_bytes = 512 * kKiB, .host_bytes = 256 * kKiB, .disk_bytes = 4096 * kKiB};
}

TEST(SwapEngine, FullDisk_IsToldWithTheBuffersName) {
  const SwapProgram program = training(8);
  auto fault = std::make_shared<std::atomic<bool>>(false);
  auto io = std::make_shared<FaultyEngine>([fault](int64_t, size_t nbytes) -> int64_t {
    return *fault ? -ENOSPC : static_cast<int64_t>(nbytes);
  });
  SwapEngine engine(make_swap_plan(program, with_disk()), {.io_engine = io});
  put_inputs(engine, program, 0);
  *fault = true;
  EXPECT_THAT([&] { run_once(engine, program); },
              ThrowsError(ErrorCode::kResourceExhausted, "while buffer "));
  EXPECT_THAT([&] { engine.put(0, SwapEngine::FillFunction()); },  // the run has not ended
              ThrowsError(ErrorCode::kPreconditionNotMet, "buffer 0 (input) cannot be put during"));
}

TEST(SwapEngine, FailingDisk_IsToldWithTheLaunchThatWaits) {
  const SwapProgram program = training(8);
  auto damage = std::make_shared<std::atomic<bool>>(false);
  auto io = std::make_shared<FaultyEngine>([damage](int64_t, size_t nbytes) -> int64_t {
    return *damage ? -EIO : static_cast<int64_t>(nbytes);
  });
  SwapEngine engine(make_swap_plan(program, with_disk()), {.io_engine = io});
  put_inputs(engine, program, 0);
  run_once(engine, program);
  put_inputs(engine, program, 1);
  *damage = true;
  EXPECT_THAT([&] { run_once(engine, program); },
              ThrowsError(ErrorCode::kUnavailable, "for launch "));
}

TEST(SwapEngine, DestroyedAmidARun_LeavesNothingBehind) {
  const ScratchFolder folder;
  const SwapProgram program = training(8);
  for (int32_t stop = 0; stop < 12; stop += 3) {
    SwapEngine engine(make_swap_plan(program, with_disk()), {.disk_folder = folder.path()});
    put_inputs(engine, program, 0);
    engine.begin_run();
    for (int32_t i = 0; i < stop; ++i) {
      engine.before_launch(i);
      engine.after_launch(i);
    }
  }
  EXPECT_TRUE(folder.empty());
}

TEST(SwapEngine, MisuseIsToldClearly) {
  const SwapProgram program = training(2);
  SwapEngine engine(make_swap_plan(program, {}));
  Bytes value(64 * kKiB);
  const auto bytes = std::as_writable_bytes(std::span(value));
  EXPECT_THAT(
      [&] { engine.begin_run(); },
      ThrowsError(ErrorCode::kPreconditionNotMet, "buffer 0 (input) is given and has no value"));
  EXPECT_THAT([&] { engine.put(4, bytes); },
              ThrowsError(ErrorCode::kInvalidArgument, "buffer 4 (a) is not given"));
  EXPECT_THAT([&] { engine.put(0, bytes.first(3)); },
              ThrowsError(ErrorCode::kInvalidArgument, "buffer 0 (input) has 65536 bytes, not 3"));
  put_inputs(engine, program, 0);
  engine.begin_run();
  EXPECT_THAT(
      [&] { engine.before_launch(1); },
      ThrowsError(ErrorCode::kPreconditionNotMet, "launch 1 is out of turn; the next is 0"));
  EXPECT_THAT([&] { engine.begin_run(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "a run has begun already; end_run it"));
  EXPECT_THAT([&] { engine.get(1, bytes); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "during a run"));
  EXPECT_THAT([&] { engine.end_run(); }, ThrowsError(ErrorCode::kPreconditionNotMet, "before all"));
}

TEST(SwapEngine, Inputs_NeedAPutBeforeEachRun) {
  const SwapProgram program = training(2);
  SwapEngine engine(make_swap_plan(program, {}));
  put_inputs(engine, program, 0);
  run_once(engine, program);
  EXPECT_THAT([&] { engine.begin_run(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "put one before the run"));
}

}  // namespace
}  // namespace phi::memory
