// What plans look like: placement by liveness, eviction, dirty and clean, recomputation,
// steadiness, errors; and that check_plan finds what is wrong.
#include "phi/memory/plan/swap_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "check_plan.h"
#include "phi/memory/plan/simulate_plan.h"
#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

constexpr int64_t kKiB = 1024;
using enum BufferAccess;

/// Parameters of 64 KiB each, read one after the other, or updated.
SwapProgram parameters(int count, BufferAccess access, double seconds = 1e-3) {
  SwapProgram program;
  for (int32_t i = 0; i < count; ++i) {
    program.buffers.push_back({"w" + std::to_string(i), 64 * kKiB, true, true});
    program.steps.push_back({.name = "use", .operands = {{i, access}}, .seconds = seconds});
  }
  return program;
}

const TransferCount& count(const SwapPlan& plan, Tier from, Tier to) {
  return plan.transfers.of(from, to);
}

TEST(SwapPlan, WhatFits_IsPlacedByLivenessAndNothingMoves) {
  SwapProgram program;
  program.buffers = {{"x", 1000, true, false}, {"y", 1000}, {"z", 1000}, {"w", 100, true, true}};
  program.steps = {{.name = "f", .operands = {{0, kRead}, {3, kRead}, {1, kWrite}}},
                   {.name = "g", .operands = {{1, kRead}, {2, kWrite}}}};
  const SwapPlan plan = make_swap_plan(program, {});
  check_plan(plan, program);
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_EQ(plan.arena_bytes, 1024 + 1024 + 128);  // z takes x's place
  EXPECT_EQ(plan.arena_bytes, plan.live_bytes);
  EXPECT_EQ(plan.offset(1, 1), plan.offset(0, 0));
}

TEST(SwapPlan, ReadOnlyParameters_AreNeverWrittenBack) {
  const SwapProgram program = parameters(8, kRead);
  const SwapPlan plan =
      make_swap_plan(program, {.device_bytes = 256 * kKiB, .host_bytes = 1024 * kKiB});
  check_plan(plan, program);
  EXPECT_GT(count(plan, Tier::kHost, Tier::kDevice).count, 0);
  EXPECT_EQ(count(plan, Tier::kDevice, Tier::kHost).count, 0);
}

TEST(SwapPlan, UpdatedParameters_AreWrittenBackOncePerUpdate) {
  const SwapProgram program = parameters(8, kUpdate);
  const SwapPlan plan =
      make_swap_plan(program, {.device_bytes = 256 * kKiB, .host_bytes = 1024 * kKiB});
  check_plan(plan, program);
  EXPECT_LE(count(plan, Tier::kDevice, Tier::kHost).count, 8);
  EXPECT_EQ(count(plan, Tier::kDevice, Tier::kHost).count,
            count(plan, Tier::kHost, Tier::kDevice).count);
}

TEST(SwapPlan, DeadValues_AreNotWrittenBack) {
  SwapProgram program;
  for (int32_t i = 0; i < 8; ++i) {
    program.buffers.push_back({"t" + std::to_string(i), 64 * kKiB});
    program.steps.push_back({.name = "make", .operands = {{i, kWrite}}});
    program.steps.push_back({.name = "use", .operands = {{i, kRead}}});
  }
  const SwapPlan plan = make_swap_plan(program, {.device_bytes = 64 * kKiB});
  check_plan(plan, program);
  EXPECT_TRUE(plan.actions.empty());
}

/// A value that is cheap to make from an input, then pushed out by two large ones.
SwapProgram cheap_value(bool repeatable) {
  SwapProgram program;
  program.buffers = {
      {"x", 64, true, true}, {"y", 64 * kKiB}, {"big", 96 * kKiB}, {"out", 64, false, true}};
  program.steps = {
      {.name = "f",
       .operands = {{0, kRead}, {1, kWrite}},
       .seconds = 1e-6,
       .repeatable = repeatable},
      {.name = "h", .operands = {{2, kWrite}}, .seconds = 1e-3},
      {.name = "h", .operands = {{2, kRead}}, .seconds = 1e-3},
      {.name = "g", .operands = {{0, kRead}, {1, kRead}, {3, kWrite}}, .seconds = 1e-3}};
  return program;
}

TEST(SwapPlan, WhatIsCheaperToMakeThanToRead_IsRecomputed) {
  const MemoryLimits limits{.device_bytes = 100 * kKiB, .host_bytes = 256 * kKiB};
  const SwapProgram program = cheap_value(true);
  const SwapPlan plan = make_swap_plan(program, limits);
  check_plan(plan, program);
  ASSERT_EQ(plan.launches.size(), 5U);
  EXPECT_TRUE(plan.launches[3].recompute);
  EXPECT_EQ(plan.launches[3].step, 0);
  EXPECT_EQ(count(plan, Tier::kDevice, Tier::kHost).count, 0);
}

TEST(SwapPlan, StepsWithSideEffects_AreNotRunTwice) {
  const MemoryLimits limits{.device_bytes = 100 * kKiB, .host_bytes = 256 * kKiB};
  const SwapProgram program = cheap_value(false);
  const SwapPlan plan = make_swap_plan(program, limits);
  check_plan(plan, program);
  EXPECT_EQ(plan.launches.size(), 4U);
  EXPECT_EQ(count(plan, Tier::kDevice, Tier::kHost).count, 1);
}

TEST(SwapPlan, StartIsEndForAllThatIsKept) {
  const SwapProgram program = parameters(8, kUpdate);
  const SwapPlan plan =
      make_swap_plan(program, {.device_bytes = 256 * kKiB, .host_bytes = 1024 * kKiB});
  EXPECT_EQ(plan.start, plan.end);
}

TEST(SwapPlan, TransfersHideBehindLongSteps) {
  const SwapProgram program = parameters(16, kUpdate, 1e-3);
  const SwapPlan plan =
      make_swap_plan(program, {.device_bytes = 256 * kKiB, .host_bytes = 4096 * kKiB});
  const SwapTimeline timeline = simulate_plan(plan, program);
  EXPECT_GT(timeline.transfer_s, 0);
  EXPECT_GT(timeline.hidden_share(), 0.85);
}

TEST(SwapPlan, HostFull_TheFarthestGoesToDisk) {
  const SwapProgram program = parameters(16, kUpdate);
  const SwapPlan plan = make_swap_plan(
      program, {.device_bytes = 256 * kKiB, .host_bytes = 512 * kKiB, .disk_bytes = 1024 * kKiB});
  check_plan(plan, program);
  EXPECT_GT(plan.peak_bytes[static_cast<size_t>(Tier::kDisk)], 0);
  EXPECT_LE(plan.peak_bytes[static_cast<size_t>(Tier::kHost)], 512 * kKiB);
  EXPECT_GT(count(plan, Tier::kDisk, Tier::kHost).count, 0);  // brought up ahead of use
}

TEST(SwapPlan, StepThatDoesNotFit_IsNamedWithTheLeastLimit) {
  const SwapProgram program = parameters(2, kRead);
  EXPECT_THAT(
      [&] { make_swap_plan(program, {.device_bytes = 64 * kKiB - 1, .host_bytes = 1024 * kKiB}); },
      ThrowsError(ErrorCode::kResourceExhausted, "step 0 (use) needs 65536 bytes"));
}

TEST(SwapPlan, NoRoomBelow_SaysWhatIsHeldWhere) {
  const SwapProgram program = parameters(8, kUpdate);
  EXPECT_THAT(
      [&] { make_swap_plan(program, {.device_bytes = 128 * kKiB, .host_bytes = 128 * kKiB}); },
      ThrowsError(ErrorCode::kResourceExhausted, "Raise a limit"));
}

// What is advised is tried here: with it a plan is made, whatever makes too little too little.
int64_t advised(const SwapProgram& program, const MemoryLimits& limits, int64_t beside) {
  constexpr std::string_view kAdvice = "The least device limit that works is ";
  try {
    make_swap_plan(program, limits, {}, beside);
  } catch (const Error& error) {
    const std::string text = words_of(error, ErrorCode::kResourceExhausted);
    const size_t at = text.find(kAdvice);
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? 0 : std::stoll(text.substr(at + kAdvice.size()));
  }
  ADD_FAILURE() << "it works";
  return 0;
}

TEST(SwapPlan, TheLeastDeviceLimit_IsOneThatWorks) {
  struct Case {
    SwapProgram program;
    MemoryLimits below;
    int64_t beside;
    int64_t least;
  };
  const Case cases[] = {
      // A step's operands.
      {parameters(8, kUpdate), {.host_bytes = 1024 * kKiB}, 0, 64 * kKiB},
      {parameters(8, kUpdate), {.host_bytes = 1024 * kKiB}, 1000, 64 * kKiB + 1000},
      // What the host has no room for.
      {parameters(8, kUpdate), {.host_bytes = 128 * kKiB}, 0, 7 * 64 * kKiB},
      {parameters(8, kUpdate), {}, 5000, 8 * 64 * kKiB + 5000},
  };
  for (const Case& c : cases) {
    MemoryLimits limits = c.below;
    limits.device_bytes = c.beside + 1;
    const int64_t least = advised(c.program, limits, c.beside);
    EXPECT_NEAR(least, c.least, c.least / 64 + kDeviceAlignment);
    limits.device_bytes = least;
    const SwapPlan plan = make_swap_plan(c.program, limits, {}, c.beside);
    check_plan(plan, c.program);
    EXPECT_LE(plan.arena_bytes + c.beside, least);
  }
}

TEST(SwapPlan, ReadingWhatNobodyWrote_IsAnError) {
  SwapProgram program;
  program.buffers = {{"x", 64}};
  program.steps = {{.name = "f", .operands = {{0, kRead}}}};
  EXPECT_THAT([&] { make_swap_plan(program, {}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "step 0 (f) reads buffer 0 (x) before anything has written it"));
}

TEST(SwapPlan, NegativeSizesAndUnknownBuffers_AreErrors) {
  const auto with_step = [](const SwapStep& step) {
    SwapProgram program;
    program.buffers = {{"x", 64}};
    program.steps = {step};
    return program;
  };
  SwapProgram negative = with_step({.name = "f"});
  negative.buffers[0].nbytes = -1;
  const struct {
    SwapProgram program;
    MemoryLimits limits;
    const char* words;
  } cases[] = {
      {with_step({.name = "f"}), {.device_bytes = -1}, "the device's limit is -1 bytes; it cannot"},
      {negative, {}, "buffer 0 (x) has -1 bytes; a size is 0 or more"},
      {with_step({.name = "f", .operands = {{1, kRead}}}),
       {},
       "step 0 (f) names buffer 1; the program"},
      {with_step({.name = "f", .scratch_bytes = -1}), {}, "-1 bytes of scratch and takes"},
      {with_step({.name = "f", .seconds = -1}), {}, "neither can be negative"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT([&] { make_swap_plan(c.program, c.limits); },
                ThrowsError(ErrorCode::kInvalidArgument, c.words));
  }
}

TEST(SwapPlan, DiskWithoutHostMemoryToPassThrough_IsAnError) {
  EXPECT_THAT([&] { make_swap_plan(parameters(1, kRead), {.disk_bytes = 1 << 20}); },
              ThrowsError(ErrorCode::kInvalidArgument, "needs 8192 bytes of host memory"));
}

// --- check_plan finds faults ---
class BrokenPlan : public testing::Test {
 protected:
  const SwapProgram program = parameters(8, kUpdate);
  SwapPlan plan = make_swap_plan(program, {.device_bytes = 256 * kKiB, .host_bytes = 1024 * kKiB});
  SwapAction& first(Tier from, Tier to) {
    return *std::find_if(plan.actions.begin(), plan.actions.end(), [&](const SwapAction& action) {
      return action.kind == SwapAction::Kind::kCopy && action.from == from && action.to == to;
    });
  }
};

TEST_F(BrokenPlan, AMissingDependencyIsFound) {
  for (SwapAction& action : plan.actions) action.after.clear();
  EXPECT_THAT([&] { check_plan(plan, program); },
              ThrowsError(ErrorCode::kInternal, "still in use"));
}
TEST_F(BrokenPlan, ALateFetchIsFound) {
  first(Tier::kHost, Tier::kDevice).due = static_cast<int32_t>(plan.launches.size());
  EXPECT_THAT([&] { check_plan(plan, program); },
              ThrowsError(ErrorCode::kInternal, "may not have arrived"));
}
TEST_F(BrokenPlan, AWrongOffsetIsFound) {
  plan.offsets[2] += kDeviceAlignment;
  EXPECT_THAT([&] { check_plan(plan, program); }, ThrowsError(ErrorCode::kInternal, "is not at"));
}
TEST_F(BrokenPlan, TooMuchOnTheHostIsFound) {
  plan.limits.host_bytes = plan.peak_bytes[static_cast<size_t>(Tier::kHost)] - 1;
  EXPECT_THAT([&] { check_plan(plan, program); },
              ThrowsError(ErrorCode::kInternal, "the limit is"));
}
TEST_F(BrokenPlan, ALostValueIsFound) {
  plan.end.back() = {};
  EXPECT_THAT([&] { check_plan(plan, program); },
              ThrowsError(ErrorCode::kInternal, "buffer 7 (w7)"));
}
TEST_F(BrokenPlan, AMissingLaunchIsFound) {
  plan.launches.pop_back();
  plan.actions.clear();
  EXPECT_THAT([&] { check_plan(plan, program); },
              ThrowsError(ErrorCode::kInternal, "bad swap plan"));
}

TEST(Liveness, LargeTrainingProgram_IsPlacedNearItsLiveBytes) {
  // Activations made on the way forth and used on the way back, with short-lived ones between.
  SwapProgram program;
  constexpr int32_t kLayers = 20'000;
  for (int32_t i = 0; i < kLayers; ++i) {
    program.buffers.push_back({"a", 256 + i % 7 * 512});
    program.buffers.push_back({"t", 4096 + i % 5 * 1024});
    program.steps.push_back({.name = "f", .operands = {{2 * i, kWrite}, {2 * i + 1, kWrite}}});
    program.steps.push_back({.name = "g", .operands = {{2 * i + 1, kRead}}});
  }
  for (int32_t i = kLayers; i-- > 0;) {
    program.buffers.push_back({"d", 8192});
    const auto d = static_cast<int32_t>(program.buffers.size()) - 1;
    program.steps.push_back({.name = "b", .operands = {{2 * i, kRead}, {d, kWrite}}});
  }
  const SwapPlan plan = make_swap_plan(program, {});
  EXPECT_LE(plan.arena_bytes, plan.live_bytes * 103 / 100);
}

}  // namespace
}  // namespace phi::memory
