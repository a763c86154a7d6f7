// Rates between and beyond measured points, families of operators, and links.
#include "distributed/simulator/machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

MachineModel machine() {
  MachineModel machine;
  machine.file = "m.yaml";
  machine.launch_overhead_us = 1;
  machine.families[DataType::FLOAT32] = {
      {"matmul", {"matmul"}, WorkUnit::kFlops, {{1e6, 1e9}, {1e8, 1e11}}},
      {"bytes", {"add"}, WorkUnit::kBytes, {{1e3, 2e9}}},
  };
  return machine;
}

TEST(OpFamily, InterpolatesRatesInLogarithmsAndIsConstantOutside) {
  const OpFamily family = machine().families[DataType::FLOAT32][0];
  EXPECT_DOUBLE_EQ(family.per_second(1e6), 1e9);
  EXPECT_NEAR(family.per_second(1e7), 1e10, 1);
  EXPECT_NEAR(family.per_second(std::pow(10, 6.5)), std::pow(10, 9.5), 1);
  EXPECT_DOUBLE_EQ(family.per_second(1), 1e9);
  EXPECT_DOUBLE_EQ(family.per_second(1e12), 1e11);
}

TEST(Machine, ALaunchTakesItsOverheadAndItsWork) {
  const auto time = machine().time_of({"matmul", DataType::FLOAT32, 1e8, 1e3});
  EXPECT_DOUBLE_EQ(time.seconds, 1e-6 + 1e-3);
  EXPECT_TRUE(time.is_listed);
  EXPECT_DOUBLE_EQ(machine().time_of({"add", DataType::FLOAT32, 0, 4e3}).seconds, 1e-6 + 2e-6);
  EXPECT_DOUBLE_EQ(machine().time_of({"add", DataType::FLOAT32, 0, 0}).seconds, 1e-6);
}

TEST(Machine, ALaunchOfAMeasuredSizeTakesItsTime) {
  MachineModel measured = machine();
  measured.families[DataType::FLOAT32][0].sizes = {{2e9, 3e6, 5}, {2e9, 4e6, 7}};
  EXPECT_EQ(measured.time_of({"matmul", DataType::FLOAT32, 2e9, 3e6}).seconds, 5);
  EXPECT_EQ(measured.time_of({"matmul", DataType::FLOAT32, 2e9, 4e6}).seconds, 7);
  for (const auto& [flops, bytes] : {std::pair(2e9, 3.5e6), {2e9, 5e6}, {1e9, 3e6}, {3e9, 3e6}}) {
    const Computation other{"matmul", DataType::FLOAT32, flops, bytes};
    EXPECT_EQ(measured.time_of(other).seconds, machine().time_of(other).seconds);
  }
}

TEST(Machine, NoLaunchIsFasterThanMemory) {
  MachineModel bound = machine();
  bound.memory_GBps = 1;
  // 1e8 flops take 1 ms, and 3e6 bytes 3 ms.
  EXPECT_DOUBLE_EQ(bound.time_of({"matmul", DataType::FLOAT32, 1e8, 3e6}).seconds, 1e-6 + 3e-3);
  EXPECT_DOUBLE_EQ(bound.time_of({"matmul", DataType::FLOAT32, 1e8, 1e5}).seconds, 1e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(bound.time_of({"add", DataType::FLOAT32, 0, 4e3}).seconds, 1e-6 + 4e-6);
}

TEST(Machine, TensorsHaveTheMemoryThatIsNotReserved) {
  MachineModel device;
  EXPECT_EQ(device.tensor_memory_bytes(), 0);
  device.memory_GiB = 80;
  device.reserved_GiB = 1.5;
  EXPECT_EQ(device.tensor_memory_bytes(), (int64_t{157} << 30) / 2);
  device.pool_share = 0.25;
  EXPECT_EQ(device.tensor_memory_bytes(), (int64_t{157} << 30) * 2 / 5);
}

TEST(Machine, AnUnlistedOperatorHasTheRatesOfMatmulsOrOfBytes) {
  const auto with_flops = machine().time_of({"conv2d", DataType::FLOAT32, 1e8, 1e3});
  EXPECT_DOUBLE_EQ(with_flops.seconds, 1e-6 + 1e-3);
  EXPECT_FALSE(with_flops.is_listed);
  const auto without = machine().time_of({"sort", DataType::FLOAT32, 0, 4e3});
  EXPECT_DOUBLE_EQ(without.seconds, 1e-6 + 2e-6);
  EXPECT_FALSE(without.is_listed);
  EXPECT_FALSE(machine().time_of({"matmul", DataType::FLOAT32, 0, 4e3}).is_listed);
}

TEST(Machine, LaunchesWithoutFlopsHaveTheRatesOfFloat32) {
  EXPECT_DOUBLE_EQ(machine().time_of({"add", DataType::FLOAT64, 0, 4e3}).seconds, 3e-6);
  EXPECT_DOUBLE_EQ(machine().time_of({"add", DataType::INT64, 0, 4e3}).seconds, 3e-6);
}

TEST(Machine, ADtypeThatWasNotCalibratedIsAnError) {
  EXPECT_THAT(
      [] {
        machine().time_of({"matmul", DataType::BFLOAT16, 1e8, 1e3});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "matmul computes in bfloat16, and m.yaml has rates of float32 only; "
                  "calibrate with --dtypes=float32,bfloat16."));
}

TEST(Machine, RanksThatShareCoresComputeSlower) {
  MachineModel shared = machine();
  EXPECT_EQ(shared.slowdown(64), 1);
  shared.cores = 4;
  EXPECT_EQ(shared.slowdown(2), 1);
  EXPECT_EQ(shared.slowdown(6), 1.5);
}

TEST(Machine, TheInnermostLevelConnectsTwoRanks) {
  MachineModel cluster = machine();
  cluster.links = {{"node", 2, 1, 10}, {"rack", 4, 2, 5}};
  EXPECT_EQ(cluster.link_between(2, 3).name, "node");
  EXPECT_EQ(cluster.link_between(1, 2).name, "rack");
  EXPECT_THAT([&] { cluster.link_between(3, 4); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "m.yaml: no link connects ranks 3 and 4: the last level, 'rack', has "
                          "units of 4 ranks"));
  cluster.links.back().line = 7;
  EXPECT_THAT([&] { cluster.link_between(3, 4); },
              ThrowsError(ErrorCode::kInvalidArgument, "m.yaml:7: no link connects ranks 3 and 4"));
  cluster.links.back().size = 0;
  EXPECT_EQ(cluster.link_between(3, 4).name, "rack");
  EXPECT_THAT(
      [] { machine().link_between(0, 1); },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "m.yaml has no links, and rank 0 sends to rank 1; calibrate under mpirun"));
}

}  // namespace
}  // namespace phi::distributed::simulator
