// What a report says of ranks whose rings of calls are given.
#include "distributed/comm/report/hang_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/report/flight_recorder.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Noted {
  uint64_t sequence;
  CallState state;
  CommOp op = CommOp::kBarrier;
};

class HangReportTest : public ::testing::Test {
 protected:
  CollectiveCall call(uint64_t sequence, CommOp op = CommOp::kBarrier) {
    CollectiveCall made{.op = op};
    made.group = &world_.everyone();
    made.sequence = sequence;
    return made;
  }

  void note(int64_t rank, const std::vector<Noted>& all) {
    for (const Noted& each : all) {
      recorders_[static_cast<size_t>(rank)]->note(call(each.sequence, each.op), each.state);
    }
  }

  std::string late(uint64_t sequence) {
    return late_report(call(sequence), World::Milliseconds(1500), rank_status_);
  }

  // The line of a rank, to its end.
  static std::string line_of(const std::string& report, int64_t rank) {
    const size_t at = report.find("\n  rank " + std::to_string(rank) + "  ");
    return at == std::string::npos ? "" : report.substr(at + 1, report.find('\n', at + 1) - at - 1);
  }

  DryWorld world_{0, 3};
  std::array<std::unique_ptr<FlightRecorder>, 3> recorders_ = {std::make_unique<FlightRecorder>(),
                                                               std::make_unique<FlightRecorder>(),
                                                               std::make_unique<FlightRecorder>()};
  RankStatusQuery rank_status_ = [this](int64_t rank) {
    return RankStatus{.flight_recorder = recorders_[static_cast<size_t>(rank)].get()};
  };
};

// The newest call in which a rank waits, else what it began or finished last.
TEST_F(HangReportTest, ARankDoesWhatIsNewest) {
  using enum CallState;
  struct Case {
    std::vector<Noted> calls;
    const char* does;
  };
  const std::vector<Case> cases = {
      {{}, "has made no call yet"},
      {{{1, kWaiting}}, "waiting in barrier #1"},
      {{{1, kStarted}}, "last started barrier #1"},
      {{{1, kWaiting}, {1, kFinished}}, "last finished barrier #1"},
      {{{1, kWaiting}, {2, kWaiting}}, "waiting in barrier #2"},
      {{{1, kWaiting}, {2, kWaiting}, {3, kWaiting}}, "waiting in barrier #3"},
      {{{1, kWaiting}, {1, kFinished}, {2, kWaiting}, {2, kFinished}}, "last finished barrier #2"},
      {{{1, kStarted}, {2, kWaiting}}, "waiting in barrier #2"},
      {{{1, kWaiting}, {2, kStarted}}, "waiting in barrier #1"},
      {{{1, kStarted}, {2, kStarted}}, "last started barrier #2"},
      {{{1, kStarted}, {2, kWaiting}, {2, kFinished}}, "last finished barrier #2"},
      {{{1, kStarted}, {2, kWaiting}, {2, kFinished}, {1, kFinished}}, "last finished barrier #1"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.does);
    recorders_[1] = std::make_unique<FlightRecorder>();
    note(1, each.calls);
    EXPECT_THAT(line_of(late(9), 1), HasSubstr(std::string("rank 1  ") + each.does));
  }
}

TEST_F(HangReportTest, MissingIsWhoHasNotComeToTheCall) {
  using enum CallState;
  note(0, {{4, kWaiting}});
  note(1, {{3, kWaiting}, {3, kFinished}});
  note(2, {{5, kWaiting}});  // has gone on
  const std::string report = late(4);
  EXPECT_THAT(report, HasSubstr("Timed out after 1.5 s in barrier #4 of group {0,1,2}"));
  EXPECT_THAT(line_of(report, 0), Not(HasSubstr("missing")));
  EXPECT_THAT(line_of(report, 1), HasSubstr("<- missing"));
  EXPECT_THAT(line_of(report, 2), Not(HasSubstr("missing")));
  EXPECT_THAT(report, Not(HasSubstr("All ranks have entered it")));
  EXPECT_THAT(late(3), HasSubstr("All ranks have entered it"));
}

// Of several calls that differ the first; of several ranks the first that differs from rank 0.
TEST_F(HangReportTest, TheFirstDifferenceIsNamed) {
  using enum CallState;
  note(0, {{1, kWaiting}, {2, kWaiting}, {3, kWaiting}, {4, kWaiting}});
  note(1, {{1, kWaiting}, {2, kWaiting}, {3, kWaiting}, {4, kWaiting, CommOp::kAllReduce}});
  note(2, {{1, kWaiting}, {2, kWaiting}, {3, kWaiting, CommOp::kBroadcast}});
  EXPECT_THAT(late(5), HasSubstr("on which ranks differ is #3 (op barrier and broadcast"));
  EXPECT_THAT(late(5), HasSubstr("rank 0 calls barrier #3"));
  EXPECT_THAT(late(5), HasSubstr("rank 2 calls broadcast #3"));
}

// The three newest, oldest of them first, and how each ended.
TEST_F(HangReportTest, TheLastCallsAreToldInOrder) {
  using enum CallState;
  note(
      1,
      {{1, kWaiting}, {1, kFinished}, {2, kWaiting}, {2, kFinished}, {3, kStarted}, {4, kWaiting}});
  const std::string report = late(9);
  const std::string of_1 = report.substr(report.find("last calls of rank 1:"));
  const size_t second = of_1.find("barrier #2"), third = of_1.find("barrier #3"),
               fourth = of_1.find("barrier #4");
  EXPECT_LT(second, third);
  EXPECT_LT(third, fourth);
  EXPECT_NE(fourth, std::string::npos);
  EXPECT_THAT(of_1, Not(HasSubstr("barrier #1 ")));
  EXPECT_THAT(of_1.substr(second, third - second), HasSubstr("took 0."));
  EXPECT_THAT(of_1.substr(third, fourth - third), HasSubstr("in progress when last observed"));
  EXPECT_THAT(of_1.substr(fourth), HasSubstr("not finished"));
}

}  // namespace
}  // namespace phi::distributed
