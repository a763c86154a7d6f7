// Values of machine files that are replaced by their keys.
#include "distributed/simulator/machine_set.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

constexpr const char* kText = R"(launch_overhead_us: 2
links:
  - {name: node, size: 8, latency_us: 1, GBps: 100}
  - {name: network, latency_us: 5, GBps: 10}
families:
  float32:
    matmul: {by: flops, points: [[1, 1e9]]}
    bytes: {points: [[1, 1e9]]}
)";

std::string machine_file() {
  const std::string path = testing::TempDir() + "machine_set_test.yaml";
  std::ofstream(path) << kText;
  return path;
}

MachineModel changed(const std::vector<std::string>& changes) {
  return read_machine(machine_file(), changes);
}

TEST(MachineSet, ReplacesValuesByTheirKeys) {
  const MachineModel machine =
      changed({"links.node.GBps=50", "links.network.latency_us=7.5", "cores=4"});
  EXPECT_EQ(machine.links[0].GBps, 50);
  EXPECT_EQ(machine.links[0].latency_us, 1);
  EXPECT_EQ(machine.links[1].latency_us, 7.5);
  EXPECT_EQ(machine.links[1].GBps, 10);
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.launch_overhead_us, 2);
  EXPECT_EQ(machine.file, machine_file());
}

TEST(MachineSet, TheLastOfTwoChangesOfAKeyCounts) {
  EXPECT_EQ(changed({"cores=4", "cores=6"}).cores, 6);
}

TEST(MachineSet, RefusesWhatTheMachineDoesNotHave) {
  const auto error_of = [](std::string change) { return [change] { changed({change}); }; };
  const auto expect = [&](const char* change, const std::string& message) {
    EXPECT_THAT(error_of(change), ThrowsError(ErrorCode::kInvalidArgument, message)) << change;
  };
  expect("link.node.GBps=1", "there is no key 'link' in the machine file ");
  expect("links.nod.GBps=1", "there is no key 'nod' in the machine file ");
  expect("memory.device.GBps=1", "there is no key 'memory' in the machine file ");
  expect("cores.node=1", "there is no key 'cores' in the machine file ");
  expect("corse=1", "with corse=1:");
  expect("corse=1", "the key 'corse' is not read here, did you mean 'cores'?");
  expect("links.node.GBps=-1", "GBps is -1; expected a number above 0.");
  expect("links.node.GBps=fast", "GBps is fast; expected a number above 0.");
  expect("links.node=1", "'links' of ");
  expect("cores", "'cores' is no KEY=VALUE, e.g. links.node.GBps=50.");
  expect("=1", "'=1' is no KEY=VALUE");
  expect("cores=", "'cores=' is no KEY=VALUE");
}

}  // namespace
}  // namespace phi::distributed::simulator
