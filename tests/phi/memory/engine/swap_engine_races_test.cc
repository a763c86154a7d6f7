// Swap engines whose channels meet at every mark: the values are those of a plain run, a fault ends
// the run with an error, and an engine may go in the middle of one.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "engine_run.h"
#include "phi/common/errors.h"
#include "support/races.h"
#include "tests/phi/memory/io/faulty_engine.h"
#include "tests/phi/memory/plan/random_program.h"
#include "tests/phi/memory/scratch_folder.h"

namespace phi::memory {
namespace {

using testing::at_once;
using testing::for_each_seed;

/// A small program, and limits under which all three channels are busy.
struct Case {
  explicit Case(uint64_t seed) {
    RandomProgram random(static_cast<uint32_t>(seed));
    program = random.make();
    plan = make_swap_plan(program,
                          {.device_bytes = least_device_bytes(program),
                           .host_bytes = kLeastStaging + random.pick(0, bytes_below(program) / 2),
                           .disk_bytes = bytes_below(program)});
  }
  SwapProgram program;
  SwapPlan plan;
};

TEST(SwapEngineRaces, EnginesThatShareTheirIo_GiveThePlainValues) {
  for (const IoEngineKind kind : {IoEngineKind::kUring, IoEngineKind::kThreadPool}) {
    if (kind == IoEngineKind::kUring && !make_uring_engine()) continue;
    for_each_seed(8, [&](uint64_t seed) {
      const auto io = make_io_engine(kind);
      at_once(2, [&](int thread) {
        const Case own(seed * 2 + static_cast<uint64_t>(thread));
        SwapEngine engine(own.plan, {.io_engine = io});
        expect_values_of_plain_run(engine, own.program);
        for (const Tier from : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
          for (const Tier to : {Tier::kDevice, Tier::kHost, Tier::kDisk}) {
            EXPECT_EQ(engine.stats().transfers.of(from, to).bytes,
                      3 * own.plan.transfers.of(from, to).bytes);
          }
        }
      });
    });
  }
}

TEST(SwapEngineRaces, AFaultOfTheDisk_IsToldWhereverItHappens) {
  for_each_seed(30, [](uint64_t seed) {
    const Case own(seed);
    std::atomic<int64_t> left = static_cast<int64_t>(seed % 12);
    const auto io = std::make_shared<FaultyEngine>([&](int64_t, size_t nbytes) -> int64_t {
      return left-- > 0 ? static_cast<int64_t>(nbytes) : -EIO;
    });
    bool told = false;
    try {
      SwapEngine engine(own.plan, {.io_engine = io});
      put_inputs(engine, own.program, 0);
      run_once(engine, own.program);
    } catch (const Error& error) {
      told = true;
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
    }
    EXPECT_EQ(told, left < 0) << "a fault is told, and nothing else is one";
  });
}

TEST(SwapEngineRaces, AnEngineThatGoesAmidARun_LeavesNothingBehind) {
  const ScratchFolder folder;
  for_each_seed(30, [&](uint64_t seed) {
    const Case own(seed);
    {
      SwapEngine engine(own.plan, {.disk_folder = folder.path()});
      put_inputs(engine, own.program, 0);
      engine.begin_run();
      const auto launches = static_cast<uint64_t>(engine.num_launches());
      for (int32_t launch = 0; launch < static_cast<int32_t>(seed % (launches + 1)); ++launch) {
        engine.before_launch(launch);
        engine.after_launch(launch);
      }
    }
    EXPECT_TRUE(folder.empty());
  });
}

}  // namespace
}  // namespace phi::memory
