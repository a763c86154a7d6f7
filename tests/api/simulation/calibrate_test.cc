// The structure of what calibration measures. Rates depend on the machine and are not tested.
#include "api/simulation/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/comm/local/local_world.h"
#include "distributed/simulator/machine_yaml.h"

namespace phi::simulation {
namespace {

using distributed::simulator::MachineModel;
using distributed::simulator::OpFamily;
using ::testing::HasSubstr;

const CalibrationOptions kQuick = {.dtypes = {DataType::FLOAT32}, .quick = true};

void expect_rates(const MachineModel& machine, DataType dtype) {
  ASSERT_TRUE(machine.families.contains(dtype));
  for (const OpFamily& family : machine.families.at(dtype)) {
    EXPECT_EQ(family.points.size(), 2u) << family.name;
    for (const auto& point : family.points) {
      EXPECT_GT(point.work, 0) << family.name;
      EXPECT_GT(point.per_second, 0) << family.name;
    }
  }
}

TEST(Calibrate, OneProcessHasRatesAndNoLinks) {
  const Calibration measured =
      calibrate({.dtypes = {DataType::FLOAT32, DataType::BFLOAT16}, .quick = true});
  EXPECT_GT(measured.machine.launch_overhead_us, 0);
  EXPECT_GE(measured.machine.cores, 1);
  EXPECT_TRUE(measured.machine.links.empty());
  expect_rates(measured.machine, DataType::FLOAT32);
  expect_rates(measured.machine, DataType::BFLOAT16);
  const OpFamily& matmul = measured.machine.families.at(DataType::FLOAT32)[0];
  EXPECT_EQ(matmul.name, "matmul");
  EXPECT_EQ(matmul.points[0].work, 2.0 * 16 * 8 * 32);
  EXPECT_THAT(table(measured), HasSubstr("float32 flash_attention_grad"));
  MachineModel read = distributed::simulator::parse_machine(to_yaml(measured.machine), "m.yaml");
  read.file = measured.machine.file;
  EXPECT_EQ(read, measured.machine);
}

TEST(Calibrate, RanksMeasureTheSameLinksAndRates) {
  MachineModel machines[3];
  distributed::run_ranks(
      3, [&](distributed::World& world) { machines[world.rank()] = calibrate(kQuick).machine; });
  ASSERT_EQ(machines[0].links.size(), 1u);
  EXPECT_GT(machines[0].links[0].latency_us, 0);
  EXPECT_GT(machines[0].links[0].GBps, 0);
  EXPECT_EQ(machines[0], machines[1]);
  EXPECT_EQ(machines[0], machines[2]);
}

}  // namespace
}  // namespace phi::simulation
