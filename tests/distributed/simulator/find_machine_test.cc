// Machine files by name, and what those that are installed have in common.
#include "distributed/simulator/find_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "distributed/simulator/collectives/group_links.h"
#include "distributed/simulator/collectives/nccl_transfer.h"
#include "distributed/simulator/machine_yaml.h"
#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

using ::testing::ElementsAre;

TEST(FindMachine, NamesAreThoseOfInstalledFiles) {
  EXPECT_THAT(machine_names(), ElementsAre("a100_80g", "h100_80g", "h200"));
}

TEST(FindMachine, APathIsReadToo) {
  const std::string path = ::testing::TempDir() + "own_machine.yaml";
  std::ofstream(path) << to_yaml(find_machine("h200"));
  MachineModel read = find_machine(path);
  EXPECT_EQ(read.file, path);
  read.file = find_machine("h200").file;
  EXPECT_EQ(read, find_machine("h200"));
}

TEST(FindMachine, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THAT([] { find_machine("h100_80gb"); },
              ThrowsError(ErrorCode::kNotFound,
                          "there is no machine 'h100_80gb', did you mean 'h100_80g'?; pass one of "
                          "a100_80g, h100_80g, h200, or the path of a machine file"));
  EXPECT_THAT([] { find_machine("./nowhere.yaml"); },
              ThrowsError(ErrorCode::kNotFound, "cannot read machine file './nowhere.yaml'"));
}

class InstalledMachine : public ::testing::TestWithParam<std::string> {};

TEST_P(InstalledMachine, IsAGpuWithinItsPeaks) {
  const MachineModel machine = find_machine(GetParam());
  EXPECT_EQ(machine.device, "gpu");
  EXPECT_EQ(machine.collectives, Collectives::kNccl);
  EXPECT_GT(machine.tensor_memory_bytes(), int64_t{70} << 30);
  ASSERT_EQ(machine.links.size(), 2u);
  for (const DataType dtype : {DataType::FLOAT32, DataType::BFLOAT16, DataType::FLOAT16}) {
    const double peak = machine.peak_TFLOPS.at(dtype) * 1e12;
    for (const OpFamily& family : machine.families.at(dtype)) {
      const double limit = family.by == WorkUnit::kFlops ? peak : machine.memory_GBps * 1e9;
      for (const RatePoint& point : family.points) EXPECT_LT(point.per_second, limit);
    }
  }
  EXPECT_EQ(machine.families.at(DataType::FLOAT16), machine.families.at(DataType::BFLOAT16));
}
INSTANTIATE_TEST_SUITE_P(All, InstalledMachine, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return info.param; });

// The formula, with the constants of the file, is close to the points that it has.
TEST(FindMachine, RingsOfA100sAreCloseToMeasurements) {
  MachineModel machine = find_machine("a100_80g");
  const GroupLinks links = links_of(machine, std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  for (const auto& [bytes, seconds] : machine.points_of("all_reduce", 8, "node")->points) {
    const double ring =
        machine.call_overhead_us * 1e-6 + nccl_transfer(links, "all_reduce", bytes).seconds(links);
    EXPECT_NEAR(ring / seconds, 1, 0.1) << bytes;
  }
}

}  // namespace
}  // namespace phi::distributed::simulator
