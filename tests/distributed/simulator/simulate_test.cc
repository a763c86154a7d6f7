// Simulated steps against times computed by hand.
#include "distributed/simulator/simulate.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

// A second per flop; messages take a second, and a second per byte.
MachineModel seconds_machine() {
  MachineModel machine;
  machine.families[DataType::FLOAT32] = {{"matmul", {"work"}, WorkUnit::kFlops, {{1, 1}}},
                                         {"bytes", {}, WorkUnit::kBytes, {{1, 1}}}};
  machine.links = {{"node", 0, 1e6, 1e-9}};
  return machine;
}

MachineModel without_message_times() {
  MachineModel machine = seconds_machine();
  machine.links = {{"node", 0, 0, 1e300}};
  return machine;
}

Computation work(double seconds) { return {"work", DataType::FLOAT32, seconds, 0}; }

// Between the two ranks of a group: what this one sends and receives.
GroupCall call(std::string_view op, CallPattern pattern, int64_t sent, int64_t received,
               bool is_started = false) {
  return {0,          op, pattern,
          is_started, 0,  {{1, sent > 0 ? 1 : 0, sent, received > 0 ? 1 : 0, received}}};
}
GroupCall all_reduce(int64_t bytes) {
  return call("all_reduce", CallPattern::kDirect, bytes, bytes);
}
GroupCall send(int64_t bytes) {
  return call("exchange", CallPattern::kPointToPoint, bytes, 0, true);
}
GroupCall receive(int64_t bytes) {
  return call("exchange", CallPattern::kPointToPoint, 0, bytes, true);
}

RankProgram program(std::vector<RankEvent> events) { return {std::move(events), {{0, 1}}}; }

void expect_time(const RankTime& time, double compute, double exposed, double bubble) {
  EXPECT_DOUBLE_EQ(time.compute, compute);
  EXPECT_NEAR(time.exposed, exposed, 1e-9);
  EXPECT_NEAR(time.bubble, bubble, 1e-9);
}

TEST(SimulateStep, OneRankComputesOneAfterTheOther) {
  const auto step = simulate(std::vector{RankProgram{{work(2), work(3)}, {}}}, seconds_machine());
  EXPECT_EQ(step.seconds, 5);
  expect_time(step.ranks[0], 5, 0, 0);
}

TEST(SimulateStep, TheDeviceWaitsForItsHostToIssueLaunches) {
  MachineModel machine = seconds_machine();
  machine.issue_us = 2e6;
  // Issued at 2, 4 and 6: the long launch hides the issue of the next one only.
  auto step = simulate(std::vector{RankProgram{{work(1), work(3), work(0.5)}, {}}}, machine);
  EXPECT_DOUBLE_EQ(step.seconds, 4 + 3 + 0.5);
  expect_time(step.ranks[0], 7.5, 0, 0);
  step = simulate(std::vector{RankProgram{{work(1), work(1), work(1)}, {}}}, machine);
  EXPECT_DOUBLE_EQ(step.seconds, 3 * 2 + 1);
}

TEST(SimulateStep, TheHostWaitsForMessagesButNotForCollectives) {
  MachineModel machine = seconds_machine();
  machine.issue_us = 2e6;
  // Both calls are issued at 2, and end at 2 + 1 + 9. The launch is issued at 4, or 2 after that.
  GroupCall exchange = call("exchange", CallPattern::kPointToPoint, 9, 9);
  EXPECT_DOUBLE_EQ(
      simulate(std::vector{program({exchange, work(1)}), program({exchange})}, machine).seconds,
      12 + 2 + 1);
  EXPECT_DOUBLE_EQ(
      simulate(std::vector{program({all_reduce(9), work(1)}), program({all_reduce(9)})}, machine)
          .seconds,
      12 + 1);
}

TEST(SimulateStep, KnownSecondsAreTakenAsTheyAre) {
  MachineModel machine = seconds_machine();
  machine.cores = 1;
  const Computation known{.op = "anything", .dtype = DataType::FLOAT16, .seconds = 4};
  const auto step = simulate(std::vector{RankProgram{{known}, {}}, RankProgram{{}, {}}}, machine);
  EXPECT_EQ(step.seconds, 4);
  EXPECT_TRUE(step.unlisted.empty());
}

TEST(SimulateStep, ACollectiveBeginsWithTheLastAndEndsForAll) {
  const auto step = simulate(
      std::vector{program({work(2), all_reduce(4), work(1)}), program({work(5), all_reduce(4)})},
      seconds_machine());
  EXPECT_EQ(step.seconds, 5 + (1 + 4) + 1);
  expect_time(step.ranks[0], 3, 5, 3);
  expect_time(step.ranks[1], 5, 5, 1);
}

TEST(SimulateStep, AReductionCombinesWhatArrives) {
  MachineModel machine = seconds_machine();
  machine.reduce_GBps = 0.5e-9;
  GroupCall reduce = all_reduce(4);
  reduce.bytes_combined = 2;
  EXPECT_DOUBLE_EQ(simulate(std::vector{program({reduce}), program({reduce})}, machine).seconds,
                   1 + 4 + 2 / 0.5);
}

TEST(SimulateStep, ATreeTakesAsManyRoundsAsLevels) {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < 5; ++rank) {
    programs.push_back(
        {{GroupCall{0, "broadcast", CallPattern::kTree, false, 0, {{1, 0, 0, 1, 4}}}},
         {{0, 1, 2, 3, 4}}});
  }
  EXPECT_DOUBLE_EQ(simulate(programs, seconds_machine()).seconds, 3 * (1 + 4));
}

TEST(SimulateStep, AStartedExchangeProceedsBesideComputation) {
  // The message leaves at 1 and takes 6.
  const auto step = simulate(std::vector{program({work(1), send(5), work(10)}),
                                         program({receive(5), work(4), CallWait{0}, work(1)})},
                             seconds_machine());
  EXPECT_EQ(step.seconds, 11);
  expect_time(step.ranks[0], 11, 0, 0);
  expect_time(step.ranks[1], 5, 3, 3);  // waits from 4 to 7, and ends at 8
}

TEST(SimulateStep, AMessageThatHasArrivedIsNotWaitedFor) {
  const auto step =
      simulate(std::vector{program({send(5)}), program({receive(5), work(9), CallWait{0}})},
               seconds_machine());
  EXPECT_EQ(step.seconds, 9);
  expect_time(step.ranks[1], 9, 0, 0);
}

TEST(SimulateStep, WaitingForALateSenderIsABubble) {
  const auto step = simulate(
      std::vector{program({work(7), send(5)}), program({receive(5), work(2), CallWait{0}})},
      seconds_machine());
  expect_time(step.ranks[1], 2, 6, 5);
}

TEST(SimulateStep, MessagesToOneRankShareItsLink) {
  // Ranks 1 and 2 send 6 bytes each to rank 0, at 0 and at 3. A latency later the first has the
  // link for 3 seconds, then both have half of it for 6, then the second has it for 3.
  const auto step = simulate(
      std::vector{
          RankProgram{
              {receive(6),
               GroupCall{1, "exchange", CallPattern::kPointToPoint, true, 0, {{1, 0, 0, 1, 6}}},
               CallWait{0}, work(1), CallWait{1}},
              {{0, 1}, {0, 2}}},
          RankProgram{{send(6)}, {{0, 1}}}, RankProgram{{work(3), send(6)}, {{0, 2}}}},
      seconds_machine());
  EXPECT_DOUBLE_EQ(step.seconds, 1 + 3 + 6 + 3);
  expect_time(step.ranks[0], 1, 12, 0);
}

// Two nodes of two ranks, with a link of a byte per second between them; each rank of the first
// node sends to one of the second, rank 1 `late` seconds later.
double seconds_between_nodes(int64_t shared_by, double late) {
  MachineModel machine = seconds_machine();
  machine.links = {{"node", 2, 0, 1e300}, {"cluster", 0, 1e6, 1e-9, shared_by}};
  return simulate(std::vector{RankProgram{{send(8)}, {{0, 2}}},
                              RankProgram{{work(late), send(8)}, {{1, 3}}},
                              RankProgram{{receive(8), CallWait{0}}, {{0, 2}}},
                              RankProgram{{receive(8), CallWait{0}}, {{1, 3}}}},
                  machine)
      .seconds;
}

TEST(SimulateStep, RanksShareALinkOnlyWhileBothUseIt) {
  EXPECT_DOUBLE_EQ(seconds_between_nodes(1, 4), 4 + 1 + 8);
  EXPECT_DOUBLE_EQ(seconds_between_nodes(2, 0.5), 1 + 16);
  EXPECT_DOUBLE_EQ(seconds_between_nodes(2, 4), 1 + 16);
  EXPECT_DOUBLE_EQ(seconds_between_nodes(2, 100), 100 + 1 + 8);
}

// All forwards, then all backwards, which take twice as long, of micro-batches over two stages.
std::vector<RankProgram> gpipe(int micro_batches) {
  std::vector<RankEvent> first, second;
  for (int m = 0; m < micro_batches; ++m) {
    first.insert(first.end(), {work(1), send(1)});
    second.insert(second.end(), {receive(1), CallWait{static_cast<size_t>(m)}, work(1)});
  }
  for (int m = 0; m < micro_batches; ++m) {
    const auto number = static_cast<size_t>(micro_batches + m);
    second.insert(second.end(), {work(2), send(1)});
    first.insert(first.end(), {receive(1), CallWait{number}, work(2)});
  }
  return {program(first), program(second)};
}

TEST(SimulateStep, APipelineHasItsBubble) {
  const int stages = 2, micro_batches = 4;
  const auto step = simulate(gpipe(micro_batches), without_message_times());
  EXPECT_DOUBLE_EQ(step.seconds, (micro_batches + stages - 1) * 3.0);
  for (const RankTime& time : step.ranks) {
    EXPECT_NEAR(time.bubble / step.seconds, (stages - 1.0) / (micro_batches + stages - 1), 1e-9);
    EXPECT_NEAR(time.exposed, 0, 1e-9);
  }
}

TEST(SimulateStep, EqualRanksAreOneClass) {
  const std::vector<RankProgram> two = {program({work(1), all_reduce(4)}),
                                        program({work(1), all_reduce(4)})};
  EXPECT_EQ(simulate(two, seconds_machine()).classes, 1u);
  EXPECT_EQ(simulate(gpipe(4), seconds_machine()).classes, 2u);
  EXPECT_EQ(hash_of(two[0].events), hash_of(two[1].events));
}

TEST(SimulateStep, UnlistedOperatorsAreNamed) {
  const RankProgram step{{Computation{"sort", DataType::FLOAT32, 0, 1}, work(1)}, {}};
  EXPECT_EQ(simulate(std::vector{step}, seconds_machine()).unlisted,
            std::vector<std::string>{"sort"});
}

TEST(SimulateStep, ManyRanksOnFewCoresComputeSlower) {
  MachineModel machine = seconds_machine();
  machine.cores = 1;
  EXPECT_EQ(simulate(std::vector(3, RankProgram{{work(2)}, {}}), machine).seconds, 6);
}

TEST(SimulateStep, ARankThatWaitsLeavesItsCoreToOthers) {
  MachineModel machine = seconds_machine();
  machine.cores = 1;
  // One after the other, each has the core alone.
  const auto step = simulate(
      std::vector{program({work(2), send(4)}), program({receive(4), CallWait{0}, work(3)})},
      machine, {.keeps_timeline = true});
  EXPECT_EQ(step.seconds, 2 + (1 + 4) + 3);
  expect_time(step.ranks[0], 2, 0, 8);
  EXPECT_EQ(step.timeline[1][2].end - step.timeline[1][2].start, 3);
  // Both compute from 0 to 4; then one is left with 1 of its 3.
  const auto both = simulate(std::vector{program({work(2)}), program({work(1), work(2)})}, machine,
                             {.keeps_timeline = true});
  EXPECT_EQ(both.seconds, 5);
  expect_time(both.ranks[0], 4, 0, 1);
  EXPECT_EQ(both.timeline[1][0].end, both.timeline[1][1].start);
  // A rank that is slow needs the core for longer.
  EXPECT_EQ(
      simulate(std::vector{program({work(2)}), program({work(1)})}, machine, {.slow = {{1, 3}}})
          .seconds,
      5);
}

TEST(SimulateStep, MessagesTakeACoreFromOthers) {
  MachineModel machine = seconds_machine();
  machine.cores = 1;
  const auto sums = std::vector{program({all_reduce(4)}), program({all_reduce(4)})};
  // Half of a message arrives while its receiver computes: something else moves it.
  machine.receiving_rate = 0.5;
  EXPECT_EQ(simulate(sums, machine).seconds, 1 + 4);
  machine.receiving_rate = 0;
  EXPECT_EQ(simulate(sums, machine).seconds, 2 * (1 + 4));
  // Rank 1 receives from 2 to 7; rank 2 computes beside it, each with half of the core.
  const auto step =
      simulate(std::vector{program({work(2), send(4)}), program({receive(4), CallWait{0}}),
                           RankProgram{{work(4)}, {}}},
               machine);
  EXPECT_EQ(step.seconds, 2 + 5 + 4);
  // As many cores as ranks: none is shared.
  machine.cores = 2;
  EXPECT_EQ(simulate(sums, machine).seconds, 1 + 4);
}

TEST(SimulateStep, CallsThatDoNotMatchAreNamed) {
  const auto error_of = [](std::vector<RankEvent> first, std::vector<RankEvent> second) {
    const std::vector<RankProgram> both = {program(std::move(first)), program(std::move(second))};
    return [both] { simulate(both, seconds_machine()); };
  };
  const GroupCall gather = call("all_gather", CallPattern::kDirect, 4, 4);
  EXPECT_THAT(error_of({all_reduce(4), all_reduce(4)}, {all_reduce(4), gather}),
              ThrowsError(ErrorCode::kInvalidArgument,
                          "rank 0 makes all_reduce, call 2 of group {0,1}, and rank 1 makes "
                          "all_gather instead."));
  EXPECT_THAT(error_of({all_reduce(4)}, {}),
              ThrowsError(ErrorCode::kInvalidArgument,
                          "rank 0 makes all_reduce, call 1 of group {0,1}, which rank 1 never "
                          "makes: it has ended its step."));
  EXPECT_THAT(
      error_of({}, {receive(4)}),
      ThrowsError(ErrorCode::kInvalidArgument,
                  "rank 1 makes exchange, call 1 of group {0,1}, which rank 0 never makes"));
  EXPECT_THAT(error_of({send(3)}, {receive(4), CallWait{0}}),
              ThrowsError(ErrorCode::kInvalidArgument,
                          "rank 1 expects 4 bytes from rank 0 and is sent 3, in exchange, call 1"));
}

TEST(SimulateStep, RanksThatWaitForEachOtherAreNamed) {
  const RankProgram first{{all_reduce(4)}, {{0, 1}}};
  GroupCall other = all_reduce(4);
  const RankProgram second{{other, all_reduce(4)}, {{1, 2}}};
  const RankProgram third{{}, {}};
  EXPECT_THAT(
      [&] {
        simulate(std::vector{first, second, third}, seconds_machine());
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "rank 0 makes all_reduce, call 1 of group {0,1}, which rank 1 never "
                  "makes: it waits in all_reduce, call 1 of group {1,2}."));
  EXPECT_THAT([&] { simulate(std::vector{first}, seconds_machine()); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "rank 0 calls group {0,1}, and there are programs of 1 ranks."));
}

}  // namespace
}  // namespace phi::distributed::simulator
