// Simulated times against closed forms, and against a brute force search for the longest path.
#include "distributed/simulator/simulate_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "distributed/pipeline/schedules/notation.h"
#include "support/error_matchers.h"

namespace phi::distributed::pipeline {
namespace {

using simulator::simulate_schedule;

double bubble(const Schedule& schedule, const ActionTimes& times) {
  const Simulation simulation = simulate_schedule(schedule, times);
  return simulation.cost - simulation.ideal;
}

TEST(SimulateSchedule, WithoutCommunicationBubblesHaveTheirClosedForms) {
  constexpr double kF = 20;
  constexpr double kB = 19;
  constexpr double kW = 11;
  const ActionTimes times = {kF, kB, kW, 0};
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {2 * p, 3 * p, 64}) {
      const double q = p - 1;
      EXPECT_NEAR(bubble(gpipe(p, m), times), q * (kF + kB + kW), 1e-9);
      EXPECT_NEAR(bubble(one_forward_one_backward(p, m), times), q * (kF + kB + kW), 1e-9);
      EXPECT_NEAR(bubble(zero_bubble_h1(p, m), times), q * (kF + kB - kW), 1e-9);
      EXPECT_NEAR(bubble(zero_bubble_h2(p, m), times), q * (kF + kB - 2 * kW), 1e-9);
    }
  }
}

TEST(SimulateSchedule, EqualTimesLeaveNoBubbleInZbH2) {
  for (const int p : {1, 2, 5, 8}) {
    EXPECT_EQ(simulate_schedule(zero_bubble_h2(p, 2 * p), {}).bubble_rate, 0);
  }
}

TEST(SimulateSchedule, InterleavingDividesTheBubbleByTheChunks) {
  for (const int p : {2, 3, 4, 8}) {
    for (const int groups : {1, 2, 5}) {
      for (const int v : {2, 3, 4}) {
        const int m = groups * p;
        const Simulation simulation = simulate_schedule(interleaved(p, m, v), {1, 1, 1, 0});
        EXPECT_NEAR((simulation.cost - simulation.ideal) / simulation.ideal,
                    static_cast<double>(p - 1) / (v * m), 1e-12)
            << p << " stages, " << m << " micro-batches, " << v << " chunks";
      }
    }
  }
}

TEST(SimulateSchedule, AGroupThatIsNotFullTakesNoLongerThanAFullOne) {
  const ActionTimes times = {3, 2, 2, 0.25};
  for (const int p : {2, 3, 4, 8}) {
    for (int m = 1; m <= 3 * p; ++m) {
      const int full = (m + p - 1) / p * p;
      EXPECT_LE(simulate_schedule(interleaved(p, m, 2), times).makespan,
                simulate_schedule(interleaved(p, full, 2), times).makespan);
    }
  }
}

TEST(SimulateSchedule, ATransferDelaysTheNeighbourAlone) {
  // 0: F0 0-1, waits for B0; 1: F0 at 1.5, B0 2.5-4.5; back at 5.
  const Simulation s = simulate_schedule(one_forward_one_backward(2, 1), {1, 1, 1, 0.5});
  EXPECT_EQ(s.spans[1][0].start, 1.5);
  EXPECT_EQ(s.spans[1][1].end, 4.5);
  EXPECT_EQ(s.spans[0][1].start, 5);
  EXPECT_EQ(s.makespan, 7);
  EXPECT_EQ(s.cost, 7);
  EXPECT_EQ(s.ideal, 3);
  EXPECT_DOUBLE_EQ(s.bubble_rate, 4.0 / 7);
  // Two virtual stages on one stage are no neighbours.
  EXPECT_EQ(simulate_schedule(interleaved(1, 3, 2), {1, 1, 1, 100}).makespan, 18);
}

TEST(SimulateSchedule, CostIsTheLongestStageNotTheMakespan) {
  const Simulation s = simulate_schedule(zero_bubble_h2(2, 8), {});
  EXPECT_EQ(s.cost, 24);
  EXPECT_EQ(s.makespan, 25);
}

TEST(SimulateSchedule, TimesOfZeroAreTaken) {
  const Simulation s = simulate_schedule(zero_bubble_h1(3, 4), {0, 0, 0, 0});
  EXPECT_EQ(s.cost, 0);
  EXPECT_EQ(s.bubble_rate, 0);
}

// Earliest starts by relaxing every constraint until nothing moves.
class LongestPath {
 public:
  LongestPath(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule), times_(times), starts_(schedule.actions.size()) {
    for (size_t i = 0; i < starts_.size(); ++i) starts_[i].resize(schedule.actions[i].size(), 0);
  }

  std::vector<std::vector<double>> starts() {
    while (relax()) {
    }
    return starts_;
  }

 private:
  // (forward?, virtual stage, micro-batch) -> stage that has it, and when.
  using Made = std::map<std::tuple<bool, int, int>, std::pair<int, double>>;

  Made made() const {
    Made result;
    for_all([&](int stage, size_t i, const Action& a) {
      if (a.kind == ActionKind::kBackwardWeight) return;
      result[{a.kind == ActionKind::kForward, schedule_.virtual_stage(stage, a.chunk),
              a.micro_batch}] = {stage,
                                 starts_[static_cast<size_t>(stage)][i] + duration(times_, a.kind)};
    });
    return result;
  }

  bool relax() {
    const Made ends = made();
    bool moved = false;
    for_all([&](int stage, size_t i, const Action& a) {
      auto& starts = starts_[static_cast<size_t>(stage)];
      const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
      double earliest = i == 0 ? 0 : starts[i - 1] + duration(times_, actions[i - 1].kind);
      if (a.kind != ActionKind::kBackwardWeight) {
        const bool forward = a.kind == ActionKind::kForward;
        const int from = schedule_.virtual_stage(stage, a.chunk) + (forward ? -1 : 1);
        const auto found = ends.find({forward, from, a.micro_batch});
        if (found != ends.end()) {
          const auto [where, end] = found->second;
          earliest = std::max(earliest, end + (where == stage ? 0 : times_.comm));
        }
      }
      moved |= earliest > starts[i];
      starts[i] = std::max(starts[i], earliest);
    });
    return moved;
  }

  template <typename F>
  void for_all(F f) const {
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const auto& actions = schedule_.actions[static_cast<size_t>(stage)];
      for (size_t i = 0; i < actions.size(); ++i) f(stage, i, actions[i]);
    }
  }

  const Schedule& schedule_;
  ActionTimes times_;
  std::vector<std::vector<double>> starts_;
};

TEST(SimulateSchedule, EveryActionStartsAsEarlyAsItCan) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> quarter(0, 20);  // sums of quarters are exact
  for (const Schedule& schedule : many_schedules()) {
    const ActionTimes times = {quarter(random) / 4.0, quarter(random) / 4.0, quarter(random) / 4.0,
                               quarter(random) / 4.0};
    const Simulation simulation = simulate_schedule(schedule, times);
    const auto starts = LongestPath(schedule, times).starts();
    for (size_t stage = 0; stage < starts.size(); ++stage) {
      for (size_t i = 0; i < starts[stage].size(); ++i) {
        ASSERT_EQ(simulation.spans[stage][i].start, starts[stage][i])
            << name_of(schedule) << ", stage " << stage << ", action " << i;
        ASSERT_EQ(simulation.spans[stage][i].end,
                  starts[stage][i] + duration(times, schedule.actions[stage][i].kind));
      }
    }
  }
}

TEST(SimulateSchedule, ADeadlockNamesWhatEachStageWaitsAt) {
  // Stage 0 wants the gradient of micro-batch 1 first, stage 1 makes that of 0 first and needs F1.
  const Schedule crossed = table(1, 2, {"F0 B0 F1 B1", "F0 F1 B0 B1"});
  EXPECT_THAT([&] { simulate_schedule(crossed, {}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "schedule mine deadlocks: stage 0 waits at action 1, backward of "
                          "micro-batch 0; stage 1 waits at action 1, forward of micro-batch 1."));
}

TEST(SimulateSchedule, OfManyWaitingStagesSomeAreNamed) {
  Schedule schedule = one_forward_one_backward(12, 2);
  std::swap(schedule.actions[11][0], schedule.actions[11][2]);  // F1 B0: never
  std::swap(schedule.actions[11][1], schedule.actions[11][2]);  // F1 F0 B0 B1
  std::swap(schedule.actions[10][0], schedule.actions[10][1]);
  schedule.actions[0] = table(1, 2, {"F0 B0 F1 B1"}).actions[0];
  EXPECT_THAT([&] { simulate_schedule(schedule, {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "; 4 more stages wait"));
}

TEST(SimulateSchedule, WrongTimesAreNamed) {
  const Schedule schedule = gpipe(2, 2);
  EXPECT_THAT(
      [&] {
        simulate_schedule(schedule, {1, -1, 1, 0});
      },
      ThrowsError(
          ErrorCode::kInvalidArgument,
          "the time backward_input of a schedule is -1; expected a finite number, 0 or more"));
  EXPECT_THAT(
      [&] {
        simulate_schedule(schedule, {1, 1, 1, std::nan("")});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the time comm of a schedule is nan"));
}

}  // namespace
}  // namespace phi::distributed::pipeline
