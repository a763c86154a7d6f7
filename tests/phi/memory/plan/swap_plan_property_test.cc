// Thousands of random programs under random limits: every plan passes check_plan, and run on real
// bytes, with transfers at random moments, gives the values of the run without limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check_plan.h"
#include "phi/memory/plan/simulate_plan.h"
#include "plan_interpreter.h"
#include "random_program.h"

namespace phi::memory {
namespace {

Bytes input(SwapBufferId buffer, int64_t nbytes, int run) {
  Bytes value(static_cast<size_t>(nbytes));
  fill(value.data(), nbytes, mix(static_cast<uint64_t>(buffer) * 31 + static_cast<uint64_t>(run)));
  return value;
}

void expect_same_values(const SwapProgram& program, const SwapPlan& plan, uint32_t seed) {
  PlainRun plain(program);
  PlanRun planned(program, plan, seed);
  for (int run = 0; run < 3; ++run) {
    for (SwapBufferId b = 0; static_cast<size_t>(b) < program.buffers.size(); ++b) {
      const SwapBuffer& buffer = program.buffers[static_cast<size_t>(b)];
      if (!buffer.given || (buffer.keep && run > 0)) continue;
      plain.value(b) = input(b, buffer.nbytes, run);
      planned.put(b, plain.value(b));
    }
    plain.run();
    planned.run();
    for (SwapBufferId b = 0; static_cast<size_t>(b) < program.buffers.size(); ++b) {
      if (!program.buffers[static_cast<size_t>(b)].keep) continue;
      ASSERT_EQ(planned.get(b), plain.value(b)) << "buffer " << b << " after run " << run;
    }
  }
  EXPECT_LE(planned.most_on(Tier::kHost), plan.limits.host_bytes);
  EXPECT_LE(planned.most_on(Tier::kDisk), plan.limits.disk_bytes);
}

void expect_good(const SwapProgram& program, const SwapPlan& plan, uint32_t seed) {
  ASSERT_NO_THROW(check_plan(plan, program));
  expect_same_values(program, plan, seed);
  const SwapTimeline timeline = simulate_plan(plan, program);
  EXPECT_GE(timeline.total_s, timeline.roofline_s * (1 - 1e-9));
}

class Property : public testing::TestWithParam<uint32_t> {};

constexpr uint32_t kProgramsEach = 250;

TEST_P(Property, HostWithRoomForAll_AnyDeviceThatHoldsTheLargestStepIsEnough) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kProgramsEach; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomProgram random(seed);
    const SwapProgram program = random.make();
    const int64_t least = least_device_bytes(program);
    MemoryLimits limits{.device_bytes = least + random.pick(0, 3) * least / 4,
                        .host_bytes = bytes_below(program)};
    SwapPlan plan;
    ASSERT_NO_THROW(plan = make_swap_plan(program, limits));
    expect_good(program, plan, seed);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Property, DiskWithRoomForAll_AnyHostIsEnough) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kProgramsEach; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomProgram random(seed + 100'000);
    const SwapProgram program = random.make();
    MemoryLimits limits{.device_bytes = least_device_bytes(program),
                        .host_bytes = kLeastStaging + random.pick(0, 8) * bytes_below(program) / 8,
                        .disk_bytes = bytes_below(program)};
    SwapPlan plan;
    ASSERT_NO_THROW(plan = make_swap_plan(program, limits));
    expect_good(program, plan, seed);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Property, TightLimits_APlanIsGoodOrThereIsNone) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kProgramsEach; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomProgram random(seed + 200'000);
    const SwapProgram program = random.make();
    const int64_t all = bytes_below(program);
    MemoryLimits limits{.device_bytes = random.pick(0, 2 * least_device_bytes(program)),
                        .host_bytes = kLeastStaging + random.pick(0, all),
                        .disk_bytes = random.chance(50) ? 0 : random.pick(0, all)};
    try {
      const SwapPlan plan = make_swap_plan(program, limits);
      expect_good(program, plan, seed);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kResourceExhausted) << error.what();
    }
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, testing::Range(0U, 4 * kProgramsEach, kProgramsEach));

}  // namespace
}  // namespace phi::memory
