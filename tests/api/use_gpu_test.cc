// Which GPU each process of a job takes, run on the CPU: a launcher may show all GPUs to each of
// them, some, or one (Slurm's --gpus-per-task).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "distributed/api.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {
namespace {

using ::testing::HasSubstr;

/// The GPU that a rank takes, and what it prints, where CUDA shows it these of the machine's.
struct Taken {
  Place place;
  std::string printed;
};
Taken take(const std::string& visible) {
  setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), /*overwrite=*/1);
  cuda_on_cpu::reset();
  ::testing::internal::CaptureStderr();
  const Place place = use_gpu({.messages = GpuMessages::kHost});
  World::current().everyone().barrier();
  return {place, ::testing::internal::GetCapturedStderr()};
}

TEST(UseGpu, OneThatIsShownAloneIsTaken) {
  on_ranks(3, [](World& world) {
    const Taken taken = take(fmt::format("{}", world.rank() + 2));
    EXPECT_EQ(taken.place, GPUPlace(0));
    EXPECT_EQ(taken.printed, "");
  });
}

TEST(UseGpu, SomeOfItsOwnAreCountedRound) {
  on_ranks(3, [](World& world) {
    const Taken taken = take(fmt::format("{},{}", 2 * world.rank(), 2 * world.rank() + 1));
    EXPECT_EQ(taken.place, GPUPlace(static_cast<int>(world.rank() % 2)));
    EXPECT_EQ(taken.printed, "");
  });
}

TEST(UseGpu, OfAllThatOfItsNumber) {
  on_ranks(3, [](World& world) {
    const Taken taken = take("0,1,2");
    EXPECT_EQ(taken.place, GPUPlace(static_cast<int>(world.rank())));
    EXPECT_EQ(taken.printed, "");
  });
}

// By different numbers, too.
TEST(UseGpu, SharedOnesAreTold) {
  on_ranks(3, [](World& world) {
    const Taken taken = take(world.rank() == 1 ? "5" : world.rank() == 0 ? "4,5" : "3,6,4");
    EXPECT_EQ(taken.place, GPUPlace(world.rank() == 2 ? 2 : 0));
    if (world.rank() == 0) {
      EXPECT_THAT(taken.printed, HasSubstr("several ranks share one GPU (ranks 0, 2): "));
    } else {
      EXPECT_EQ(taken.printed, "");
    }
  });
}

}  // namespace
}  // namespace phi::distributed::testing
