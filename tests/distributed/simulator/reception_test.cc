// Times of collectives that have the links for themselves, against numbers computed by hand.
#include "distributed/simulator/collectives/reception.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "distributed/simulator/collectives/group_links.h"
#include "distributed/simulator/collectives/nccl_transfer.h"
#include "distributed/simulator/simulate.h"
#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

// Nodes of 4 ranks: a second a hop and 100 bytes/s. Between them 10 s a hop and 20 bytes/s a link.
MachineModel cluster(int64_t shared_by = 1) {
  MachineModel machine;
  machine.collectives = Collectives::kNccl;
  machine.links = {{"node", 4, 1e6, 100e-9}, {"cluster", 0, 10e6, 20e-9, shared_by}};
  return machine;
}

std::vector<int64_t> first_ranks(int64_t n) {
  std::vector<int64_t> ranks(static_cast<size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

GroupCall call(std::string_view op, int64_t bytes) {
  return {.op = op, .pattern = CallPattern::kDirect, .peers = {}, .bytes = bytes};
}

// All ranks of the group make the call.
double seconds(const MachineModel& machine, const std::vector<int64_t>& ranks,
               const GroupCall& call) {
  std::vector<RankProgram> programs(static_cast<size_t>(std::ranges::max(ranks)) + 1);
  for (const int64_t rank : ranks) programs[static_cast<size_t>(rank)] = {{call}, {ranks}};
  return simulate(programs, machine).seconds;
}

// Seconds after which a member has received its messages.
double message_seconds(const MachineModel& machine, const std::vector<int64_t>& ranks,
                       const GroupCall& call, size_t position) {
  const Reception reception = reception_of_messages(machine, ranks, call, position);
  double longest = 0;
  for (const Reception::Leg& leg : reception.legs)
    longest = std::max(longest, leg.bytes / (machine.links[leg.level].GBps * 1e9));
  EXPECT_TRUE(reception.at_once);
  return reception.latency + longest + reception.combining;
}

TEST(GroupLinks, CountsEdgesUnitsAndMembers) {
  const MachineModel machine = cluster();
  const GroupLinks inside = links_of(machine, first_ranks(3));
  ASSERT_EQ(inside.levels.size(), 1u);
  EXPECT_EQ(inside.levels[0].edges, 3);
  EXPECT_EQ(inside.levels[0].units, 3);
  EXPECT_EQ(inside.levels[0].members, 1);
  const GroupLinks across = links_of(machine, first_ranks(12));
  ASSERT_EQ(across.levels.size(), 2u);
  EXPECT_EQ(across.levels[0].edges, 9);
  EXPECT_EQ(across.levels[0].units, 4);
  EXPECT_EQ(across.levels[1].edges, 3);
  EXPECT_EQ(across.levels[1].units, 3);
  EXPECT_EQ(across.levels[1].members, 4);
  const GroupLinks one_per_node = links_of(machine, std::vector<int64_t>{9, 1, 5});
  ASSERT_EQ(one_per_node.levels.size(), 1u);
  EXPECT_EQ(one_per_node.levels[0].link->name, "cluster");
  EXPECT_FALSE(one_per_node.levels[0].is_innermost);
  EXPECT_EQ(one_per_node.levels[0].members, 1);
  // Three members in node 0, one in node 1: the one limits.
  EXPECT_EQ(links_of(machine, std::vector<int64_t>{0, 1, 2, 4}).levels[1].members, 1);
  EXPECT_TRUE(links_of(machine, first_ranks(1)).levels.empty());
}

TEST(GroupLinks, TheSlowestLevelLimitsARing) {
  EXPECT_DOUBLE_EQ(links_of(cluster(), first_ranks(4)).ring_bytes_per_second(), 100);
  // 4 members of a node have 4 links of 20 bytes/s.
  EXPECT_DOUBLE_EQ(links_of(cluster(), first_ranks(8)).ring_bytes_per_second(), 80);
  EXPECT_DOUBLE_EQ(links_of(cluster(4), first_ranks(8)).ring_bytes_per_second(), 20);
  const std::vector<int64_t> one_per_node = {0, 4};
  EXPECT_DOUBLE_EQ(links_of(cluster(), one_per_node).ring_bytes_per_second(), 20);
  EXPECT_DOUBLE_EQ(links_of(cluster(4), one_per_node).ring_bytes_per_second(), 5);
}

TEST(NcclTime, RingsWithinANode) {
  const MachineModel machine = cluster();
  const std::vector<int64_t> node = first_ranks(4);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 4000)), 1.5 * 40 + 6);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_gather", 4000)), 0.75 * 40 + 3);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("reduce_scatter", 4000)), 0.75 * 40 + 3);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("broadcast", 4000)), 40 + 3);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("barrier", 0)), 6);
}

TEST(NcclTime, RingsAcrossNodes) {
  // 7 hops between neighbours of the ring, 2 of them between the nodes.
  const MachineModel machine = cluster();
  const double latency = 5 * 1 + 2 * 10;
  EXPECT_DOUBLE_EQ(seconds(machine, first_ranks(8), call("all_gather", 16000)),
                   7.0 / 8 * 16000 / 80 + latency);
  EXPECT_DOUBLE_EQ(seconds(cluster(4), first_ranks(8), call("all_gather", 16000)),
                   7.0 / 8 * 16000 / 20 + latency);
  EXPECT_DOUBLE_EQ(seconds(machine, first_ranks(8), call("broadcast", 16000)),
                   16000.0 / 80 + latency);
}

TEST(NcclTime, AllReducesOfFewBytesAreTrees) {
  // 8 nodes: the tree has 3 levels between nodes and a chain of 3 hops within one; the ring passes
  // 23 edges of nodes and 8 between them.
  const MachineModel machine = cluster();
  const std::vector<int64_t> ranks = first_ranks(32);
  const double tree = 2 * (3 * 1 + 3 * 10);
  const double ring = 2 * (23 * 1 + 8 * 10);
  EXPECT_DOUBLE_EQ(seconds(machine, ranks, call("all_reduce", 80)), tree + 2 * 80.0 / 80);
  EXPECT_DOUBLE_EQ(seconds(machine, ranks, call("barrier", 0)), tree);
  EXPECT_DOUBLE_EQ(seconds(machine, ranks, call("all_reduce", 8000000)),
                   ring + 2 * 31.0 / 32 * 8000000 / 80);
}

TEST(NcclTime, UnitsOfATreeAreNotRoundedUp) {
  EXPECT_DOUBLE_EQ(seconds(cluster(), {0, 4, 8}, call("all_reduce", 0)), 2 * 10);
  EXPECT_DOUBLE_EQ(seconds(cluster(), {0, 4, 8, 12}, call("all_reduce", 0)), 2 * 2 * 10);
}

TEST(NcclTime, ACallHasItsOverhead) {
  MachineModel machine = cluster();
  machine.call_overhead_us = 7e6;
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1}, call("all_gather", 0)), 7 + 1);
  const GroupCall receive{.op = "exchange", .peers = {{1, 0, 0, 1, 200}}};
  EXPECT_DOUBLE_EQ(message_seconds(machine, {0, 1}, receive, 0), 7 + 1 + 2);
}

TEST(NcclTime, OneRankTakesNoTime) {
  EXPECT_EQ(seconds(cluster(), {3}, call("all_reduce", 4000)), 0);
}

TEST(NcclTime, MessagesOfTwoLevelsArriveAtTheSameTime) {
  // 300 bytes from each of two ranks of the node, 40 bytes from each of two of the other node.
  const GroupCall exchange{
      .op = "all_to_all",
      .pattern = CallPattern::kDirect,
      .peers = {{1, 3, 300, 3, 300}, {2, 3, 300, 3, 300}, {4, 1, 40, 1, 40}, {5, 1, 40, 1, 40}},
      .bytes = 1360};
  EXPECT_DOUBLE_EQ(message_seconds(cluster(), first_ranks(8), exchange, 0), 10 + 6);
  // Rank 3 receives 640 bytes from the other node.
  EXPECT_DOUBLE_EQ(seconds(cluster(), first_ranks(8), exchange), 10 + 640.0 / 20);
  // The ranks of a node receive 80, 80, 380 and 640 bytes over its only link.
  EXPECT_DOUBLE_EQ(seconds(cluster(4), first_ranks(8), exchange), 10 + 1180.0 / 20);
}

TEST(NcclTime, ASenderDoesNotWaitForItsMessage) {
  const GroupCall send{.op = "exchange", .peers = {{4, 1, 400, 0, 0}}};
  EXPECT_EQ(message_seconds(cluster(), first_ranks(8), send, 0), 0);
}

TEST(NcclTime, OtherNamesAreErrors) {
  EXPECT_THAT([] { nccl_transfer(links_of(cluster(), first_ranks(2)), "gossip", 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "NCCL has no collective 'gossip'"));
}

TEST(NcclTime, ExactReductionsAreMessages) {
  MachineModel machine = cluster();
  machine.collectives = Collectives::kNcclExact;
  machine.memory_GBps = 1e-6;
  machine.collective_points = {{"all_reduce", 2, "node", {{100, 2}}},
                               {"all_gather", 2, "node", {{100, 3}}}};
  GroupCall reduce = call("all_reduce", 400);
  reduce.peers = {{1, 2, 400, 2, 400}};
  reduce.bytes_combined = 200;
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1}, reduce), 1 + 400 / 100.0 + 200 / 1000.0);
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1}, call("all_gather", 100)), 3);
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 4}, call("all_gather", 400)), 0.5 * 400 / 20 + 10);
  GroupCall broadcast = call("broadcast", 400);
  broadcast.pattern = CallPattern::kTree;
  broadcast.peers = {{1, 0, 0, 1, 400}};
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1, 2, 3}, broadcast), 2 * (1 + 4.0));
}

TEST(NcclTime, MembersThatShareALinkHaveItsRateTogether) {
  // 2 of the 4 ranks that share a link of 20 bytes/s: 80 bytes each.
  EXPECT_DOUBLE_EQ(seconds(cluster(4), {0, 1, 4, 5}, call("broadcast", 160)), 21 + 160.0 / 20);
  EXPECT_DOUBLE_EQ(seconds(cluster(4), {0, 4}, call("broadcast", 160)), 10 + 160.0 / 20);
}

TEST(DirectTime, MembersThatShareALinkHaveItsRateTogether) {
  MachineModel machine = cluster(4);
  machine.collectives = Collectives::kDirect;
  GroupCall reduce = call("all_reduce", 200);
  reduce.peers = {{1, 2, 200, 2, 200}};
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 4}, reduce), 2 * 10 + 200 / 20.0);
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1}, reduce), 2 * 1 + 200 / 100.0);
  // Each of two members of a node receives 100 bytes from the other, and 200 from the other node.
  reduce.peers = {{1, 1, 100, 1, 100}, {2, 1, 100, 1, 100}, {3, 1, 100, 1, 100}};
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1, 4, 5}, reduce), 10 + 100 / 100.0 + 2 * 200 / 20.0);
}

TEST(EndOfWait, MessagesAndComputationShareTheTime) {
  MachineModel machine;
  EXPECT_EQ(end_of_wait(machine, 10, {12, 17}), 17);  // nothing has been computed meanwhile
  EXPECT_EQ(end_of_wait(machine, 10, {2, 7}), 10);
  EXPECT_EQ(end_of_wait(machine, 10, {7, 12}), 12);
  machine.receiving_rate = 0.5;
  EXPECT_EQ(end_of_wait(machine, 10, {12, 17}), 17);
  EXPECT_EQ(end_of_wait(machine, 20, {2, 7}), 20);   // has arrived at 12
  EXPECT_EQ(end_of_wait(machine, 10, {6, 11}), 13);  // 2 of 5 have arrived
  machine.computing_rate = 0.8;
  EXPECT_EQ(end_of_wait(machine, 10, {6, 11}), 13.5);  // as above, 2.5 of 5 in 5 seconds; 1 late
  EXPECT_EQ(end_of_wait(machine, 20, {2, 7}), 22);     // 10 seconds of both compute 8
  machine.receiving_rate = 0;
  EXPECT_EQ(end_of_wait(machine, 20, {2, 7}), 25);
}

TEST(CollectivePoints, AreUsedInsteadOfFormulas) {
  MachineModel machine = cluster();
  machine.call_overhead_us = 7e6;
  machine.collective_points = {{"all_reduce", 4, "node", {{100, 2}, {10000, 8}}},
                               {"all_reduce", 4, "cluster", {{100, 3}}}};
  const std::vector<int64_t> node = first_ranks(4);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 100)), 2);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 1000)), 4);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 1)), 2);
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 30000)), 24);
  EXPECT_DOUBLE_EQ(seconds(machine, {0, 1, 4, 5}, call("all_reduce", 100)), 3);
  // Others have none.
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_gather", 4000)), 7 + 0.75 * 40 + 3);
  EXPECT_DOUBLE_EQ(seconds(machine, first_ranks(3), call("all_reduce", 0)), 7 + 4);
  machine.collectives = Collectives::kDirect;
  EXPECT_DOUBLE_EQ(seconds(machine, node, call("all_reduce", 100)), 2);
}

}  // namespace
}  // namespace phi::distributed::simulator
