// Calls within a unit of links and across units.
#include "distributed/simulator/link_bytes.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

MachineModel two_nodes_of_two() {
  MachineModel machine;
  machine.file = "m.yaml";
  machine.links = {{.name = "node", .size = 2, .latency_us = 1, .GBps = 10},
                   {.name = "cluster", .latency_us = 10, .GBps = 1}};
  return machine;
}

PeerTraffic sends(int64_t distance, int64_t bytes) {
  return {.distance = distance, .messages_sent = 1, .bytes_sent = bytes};
}

// Rank 1 of ranks 0 to 3: its neighbour is rank 0.
WorldPrograms world_of(RankProgram program) {
  WorldPrograms world;
  std::vector<size_t> groups;
  for (const auto& ranks : program.groups) groups.push_back(world.add_group(ranks));
  const size_t events = world.add_events(std::move(program.events));
  for (int rank = 0; rank < 4; ++rank) world.add_rank({events, groups});
  return world;
}

TEST(LinkBytes, AreThoseOfTheOutermostLevelOfACall) {
  RankProgram program;
  program.groups = {{0, 1}, {0, 1, 2, 3}};
  program.events = {
      Computation{.op = "matmul", .dtype = DataType::FLOAT32, .flops = 1},
      GroupCall{.group = 0, .op = "all_reduce", .peers = {sends(1, 100)}},
      GroupCall{.group = 1, .op = "all_reduce", .peers = {sends(1, 7), sends(2, 7), sends(3, 7)}},
      GroupCall{.group = 1, .op = "exchange", .peers = {sends(3, 50)}},
      GroupCall{.group = 1, .op = "exchange", .peers = {sends(1, 4), sends(3, 0)}},
      GroupCall{.group = 0, .op = "all_reduce", .peers = {sends(1, 1)}},
      GroupCall{.group = 1, .op = "barrier", .peers = {sends(2, 0)}}};
  const LinkBytes want = {{"all_reduce", {{"node", 101}, {"cluster", 21}}},
                          {"exchange", {{"node", 50}, {"cluster", 4}}}};
  EXPECT_EQ(link_bytes(world_of(std::move(program)), two_nodes_of_two(), 1), want);
}

TEST(LinkBytes, ALinkThatIsMissingIsAnError) {
  RankProgram program;
  program.groups = {{0, 1, 2, 3}};
  program.events = {GroupCall{.group = 0, .op = "exchange", .peers = {sends(1, 4)}}};
  MachineModel machine = two_nodes_of_two();
  machine.links.pop_back();
  const WorldPrograms world = world_of(std::move(program));
  EXPECT_THAT([&] { link_bytes(world, machine, 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "no link connects ranks 1 and 2"));
}

}  // namespace
}  // namespace phi::distributed::simulator
