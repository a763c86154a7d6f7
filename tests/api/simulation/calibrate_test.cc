// The structure of what calibration measures. Rates depend on the machine and are not tested.
#include "api/simulation/calibration/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "distributed/comm/local/local_world.h"
#include "distributed/simulator/find_machine.h"
#include "distributed/simulator/machine_yaml.h"
#include "phi/core/op_def.h"

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
  EXPECT_GE(measured.machine.scratch_MiB, 0);
  EXPECT_LT(measured.machine.scratch_MiB, 16);
  EXPECT_GT(measured.machine.process_MiB, 1);
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

TEST(Calibrate, RawSamplesAreKept) {
  const Calibration measured = calibrate(kQuick);
  // The launch overhead, and two sizes of each family.
  const auto& families = measured.machine.families.at(DataType::FLOAT32);
  ASSERT_EQ(measured.samples.size(), 1 + 2 * families.size());
  const RawSamples& first = measured.samples[1];
  EXPECT_EQ(first.name, "float32 matmul");
  EXPECT_EQ(first.unit, "flops");
  EXPECT_EQ(first.size, families[0].points[0].work);
  EXPECT_GE(first.seconds.size(), 3u);
  const auto json = samples_json(measured);
  ASSERT_EQ(json.size(), measured.samples.size());
  EXPECT_EQ(json[1]["flops"], first.size);
  EXPECT_EQ(json[1]["seconds"], first.seconds);
}

TEST(Calibrate, OperatorsOfFamiliesExist) {
  std::set<std::string> listed;
  const auto add = [&](const MachineModel& machine) {
    for (const auto& [dtype, families] : machine.families) {
      for (const OpFamily& family : families) listed.insert(family.ops.begin(), family.ops.end());
    }
  };
  add(calibrate(kQuick).machine);
  for (const std::string& name : distributed::simulator::machine_names())
    add(distributed::simulator::find_machine(name));
  listed.erase("copy");  // not an operator: a copy that the library plans
  for (const std::string& op : listed) EXPECT_NO_THROW(ops::find(op));
}

TEST(Calibrate, RanksMeasureTheSameLinksAndRates) {
  MachineModel machines[3];
  distributed::run_ranks(
      3, [&](distributed::World& world) { machines[world.rank()] = calibrate(kQuick).machine; });
  ASSERT_EQ(machines[0].collective_points.size(), 3u);
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter"}) {
    const auto* points = machines[0].points_of(op, 3, "node");
    ASSERT_NE(points, nullptr) << op;
    EXPECT_EQ(points->points.size(), 2u);
  }
  EXPECT_GE(machines[0].receiving_rate, 0);
  EXPECT_LE(machines[0].receiving_rate, 1);
  EXPECT_GT(machines[0].computing_rate, 0);
  EXPECT_LE(machines[0].computing_rate, 1);
  ASSERT_EQ(machines[0].links.size(), 1u);
  EXPECT_GT(machines[0].links[0].latency_us, 0);
  EXPECT_GT(machines[0].links[0].GBps, 0);
  EXPECT_EQ(machines[0], machines[1]);
  EXPECT_EQ(machines[0], machines[2]);
}

}  // namespace
}  // namespace phi::simulation
