// MachineModel files: what is written is read back, and each mistake is one error with its line.
#include "distributed/simulator/machine_yaml.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

constexpr const char* kFamilies =
    "families:\n"
    "  float32:\n"
    "    matmul: {by: flops, points: [[1e6, 1e9]]}\n"
    "    bytes: {points: [[1e3, 1e9], [1e4, 2e9]]}\n";

MachineModel parse(const std::string& text) { return parse_machine(text, "m.yaml"); }

TEST(MachineYaml, KeysHaveDefaults) {
  const MachineModel machine = parse(kFamilies);
  EXPECT_EQ(machine.device, "cpu");
  EXPECT_EQ(machine.cores, 0);
  EXPECT_EQ(machine.launch_overhead_us, 0);
  EXPECT_EQ(machine.reduce_GBps, 0);
  EXPECT_TRUE(machine.links.empty());
  EXPECT_EQ(machine.prediction_error, 0.1);
  const OpFamily& bytes = machine.families.at(DataType::FLOAT32)[1];
  EXPECT_EQ(bytes, (OpFamily{"bytes", {}, WorkUnit::kBytes, {{1e3, 1e9}, {1e4, 2e9}}}));
}

TEST(MachineYaml, WhatIsWrittenIsReadBack) {
  MachineModel machine;
  machine.file = "m.yaml";
  machine.cores = 3;
  machine.launch_overhead_us = 0.123456789;
  machine.reduce_GBps = 4.5;
  machine.links = {{"node", 8, 0.7, 12.25}, {"cluster", 0, 5, 1.5, 8}};
  machine.collective_points = {{"all_reduce", 8, "node", {{1024, 1e-6 / 3}, {4096, 2e-6}}}};
  machine.families[DataType::FLOAT32] = {
      {"matmul", {"matmul", "bmm"}, WorkUnit::kFlops, {{1.0 / 3, 1e9 / 7}, {1e12, 1e11}}},
      {"bytes", {}, WorkUnit::kBytes, {{4096, 3e9}}}};
  machine.families[DataType::BFLOAT16] = machine.families[DataType::FLOAT32];
  machine.families[DataType::BFLOAT16][0].sizes = {
      {0, 7, 0.1}, {1e15 + 1, 3, 0.5}, {1e15 + 1, 4, 1}};
  EXPECT_EQ(parse(to_yaml(machine)), machine);
  machine.collectives = Collectives::kNccl;
  machine.reduce_GBps = 0;
  machine.call_overhead_us = 12.5;
  machine.receiving_rate = 0.25;
  machine.computing_rate = 0.75;
  machine.prediction_error = 0;
  machine.memory_GiB = 80;
  machine.reserved_GiB = 1.25;
  machine.scratch_MiB = 0.125;
  machine.process_MiB = 50.5;
  machine.memory_GBps = 2039;
  machine.peak_TFLOPS = {{DataType::FLOAT32, 19.5}, {DataType::BFLOAT16, 312}};
  EXPECT_EQ(parse(to_yaml(machine)), machine);
  machine.device = "gpu";
  machine.process_MiB = 0;
  machine.pool_share = 0.0625;
  EXPECT_EQ(parse(to_yaml(machine)), machine);
}

TEST(MachineYaml, EachMistakeIsNamedWithItsLine) {
  const std::string link = std::string(kFamilies) + "links:\n";
  const auto of_sizes = [](const std::string& sizes) {
    return "families:\n  float32:\n    matmul: {points: [[1, 1]], sizes: " + sizes +
           "}\n    bytes: {points: [[1, 1]]}\n";
  };
  const std::string points =
      link + "  - {name: node, size: 8, latency_us: 1, GBps: 1}\ncollective_points:\n  - ";
  const std::pair<std::string, const char*> cases[] = {
      {"launch_overhed_us: 3\n" + std::string(kFamilies),
       "m.yaml:1: the key 'launch_overhed_us' is not read here, did you mean "
       "'launch_overhead_us'?"},
      {"cores: 2\n", "m.yaml:1: the key 'families' is missing."},
      {"cores: -2\n" + std::string(kFamilies),
       "m.yaml:1: cores is -2; expected an integer, 0 or more."},
      {"cores: 2.5\n" + std::string(kFamilies),
       "m.yaml:1: cores is 2.5; expected an integer, 0 or more."},
      {"memory_GiB: 80\nreserved_GiB: 80\n" + std::string(kFamilies),
       "m.yaml:2: reserved_GiB is 80; expected less than memory_GiB, 80."},
      {"reserved_GiB: 1\n" + std::string(kFamilies),
       "m.yaml:1: reserved_GiB is 1; expected less than memory_GiB, 0."},
      {"pool_share: 0.1\n" + std::string(kFamilies),
       "m.yaml:1: pool_share belongs to device: gpu. Leave it out."},
      {"device: gpu\nprocess_MiB: 3\n" + std::string(kFamilies),
       "m.yaml:2: process_MiB belongs to device: cpu. Leave it out."},
      {"receiving_rate: 1.5\n" + std::string(kFamilies),
       "m.yaml:1: receiving_rate is 1.5; expected at most 1."},
      {"prediction_error: 2\n" + std::string(kFamilies),
       "m.yaml:1: prediction_error is 2; expected at most 1."},
      {"computing_rate: 0\n" + std::string(kFamilies),
       "m.yaml:1: computing_rate is 0; expected a number above 0."},
      {"peak_TFLOPS: {float32: -1}\n" + std::string(kFamilies),
       "m.yaml:1: a peak is -1; expected a number above 0."},
      {"peak_TFLOPS: {tf32: 1}\n" + std::string(kFamilies), "m.yaml:1: "},
      {"memory_Gbps: 3\n" + std::string(kFamilies),
       "m.yaml:1: the key 'memory_Gbps' is not read here, did you mean 'memory_GBps'?"},
      {"device: tpu\n" + std::string(kFamilies), "m.yaml:1: device is 'tpu'; expected cpu or gpu."},
      {"collectives: ring\n" + std::string(kFamilies),
       "m.yaml:1: collectives is 'ring'; expected direct or nccl."},
      {"collectives: nccl\nreduce_GBps: 3\n" + std::string(kFamilies),
       "m.yaml:2: reduce_GBps belongs to collectives: direct"},
      {link + "  - {name: node, latency_us: 1}\n", "m.yaml:6: the key 'GBps' is missing."},
      {link + "  - {name: node, latency_us: 1, GBps: 0}\n",
       "m.yaml:6: GBps is 0; expected a number above 0."},
      {link + "  - {name: node, latency_us: -1, GBps: 1}\n",
       "m.yaml:6: latency_us is -1; expected a number, 0 or more."},
      {link + "  - {name: node, latency_us: nan, GBps: 1}\n", "m.yaml:6: latency_us is nan;"},
      {link + "  - {name: a, size: 4, latency_us: 1, GBps: 1}\n"
              "  - {name: b, size: 6, latency_us: 1, GBps: 1}\n",
       "m.yaml:7: size of level 'b' is 6; expected a multiple of that of the level before it, 4."},
      {link + "  - {name: a, latency_us: 1, GBps: 1}\n  - {name: b, latency_us: 1, GBps: 1}\n",
       "m.yaml:7: size of level 'b' is 0; expected a multiple"},
      {link + "  node: 3\n", "m.yaml:6: links must be a list of levels."},
      {link + "  - {name: a, latency_us: 1, GBps: 1, shared_by: 0}\n",
       "m.yaml:6: shared_by is 0; expected an integer above 0."},
      {points + "{op: gather, ranks: 2, level: node, points: [[1, 1]]}\n",
       "m.yaml:8: op is 'gather'; expected all_reduce or all_gather or"},
      {points + "{ranks: 2, level: node, points: [[1, 1]]}\n",
       "m.yaml:8: the key 'op' is missing."},
      {points + "{op: all_reduce, ranks: 9, level: node, points: [[1, 1]]}\n",
       "m.yaml:8: ranks is 9; expected 2 or more, and at most the 8 ranks of a unit of level "
       "'node'."},
      {points + "{op: all_reduce, ranks: 1, level: node, points: [[1, 1]]}\n",
       "m.yaml:8: ranks is 1; expected 2 or more"},
      {points + "{op: all_reduce, ranks: 2, level: rack, points: [[1, 1]]}\n",
       "m.yaml:8: level is 'rack', which is not in links: node."},
      {points + "{op: all_reduce, ranks: 2, level: node, points: [[2, 1], [1, 1]]}\n",
       "m.yaml:8: points must be in the order of increasing bytes."},
      {points + "{op: all_reduce, ranks: 2, level: node, points: [[2, 1]]}\n"
                "  - {op: all_reduce, ranks: 2, level: node, points: [[2, 1]]}\n",
       "m.yaml:9: the points of all_reduce of 2 ranks in level 'node' are set twice."},
      {std::string(kFamilies) + "collective_points: 3\n",
       "m.yaml:5: collective_points must be a list of maps."},
      {"families:\n  float33: {}\n", "m.yaml:2: "},
      {"families:\n  float32:\n    bytes: {points: [[1, 1]]}\n",
       "m.yaml:3: the key 'matmul' is missing."},
      {"families:\n  float32:\n    matmul: {points: []}\n    bytes: {points: [[1, 1]]}\n",
       "m.yaml:3: points must be a list of pairs."},
      {"families:\n  float32:\n    matmul: {points: [[2, 1], [1, 1]]}\n    bytes: {points: [[1, "
       "1]]}\n",
       "m.yaml:3: points must be in the order of increasing work."},
      {"families:\n  float32:\n    matmul: {points: [[1, -1]]}\n    bytes: {points: [[1, 1]]}\n",
       "m.yaml:3: the rate of a point is -1; expected a number above 0."},
      {"families:\n  float32:\n    matmul: {points: [[1]]}\n    bytes: {points: [[1, 1]]}\n",
       "m.yaml:3: a point must be a pair [work, rate]."},
      {of_sizes("3"), "m.yaml:3: sizes must be a list of [flops, bytes, seconds]."},
      {of_sizes("[[1, 2]]"), "m.yaml:3: a size must be [flops, bytes, seconds]."},
      {of_sizes("[[-1, 2, 3]]"),
       "m.yaml:3: the flops of a size is -1; expected a number, 0 or more."},
      {of_sizes("[[1, 2, 0]]"), "m.yaml:3: the seconds of a size is 0; expected a number above 0."},
      {of_sizes("[[4, 2, 3], [1, 2, 3], [4, 2, 5]]"),
       "m.yaml:3: the size of 4 flops and 2 bytes is set twice."},
      {"families:\n  float32:\n    matmul: {by: time, points: [[1, 1]]}\n    bytes: {points: [[1, "
       "1]]}\n",
       "m.yaml:3: by is 'time'; expected bytes or flops."},
      {"families:\n  float32:\n    matmul: {op: [a], points: [[1, 1]]}\n    bytes: {points: [[1, "
       "1]]}\n",
       "m.yaml:3: the key 'op' is not read here, did you mean 'ops'?"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT([&] { parse(text); }, ThrowsError(ErrorCode::kInvalidArgument, message)) << text;
  }
}

TEST(MachineYaml, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT([] { read_machine("nowhere.yaml"); },
              ThrowsError(ErrorCode::kNotFound, "cannot read machine file 'nowhere.yaml'"));
}

}  // namespace
}  // namespace phi::distributed::simulator
