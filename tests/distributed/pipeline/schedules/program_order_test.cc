// Properties of the one order that all ranks walk through, for many schedules and times.
#include "distributed/pipeline/schedules/program_order.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "distributed/simulator/simulate_schedule.h"
#include "notation.h"

namespace phi::distributed::pipeline {
namespace {

// Of simulated times.
constexpr double kRounding = 1e-9;

bool is_forward(const Action& action) { return action.kind == ActionKind::kForward; }
bool is_weight(const Action& action) { return action.kind == ActionKind::kBackwardWeight; }

// A schedule's order, and where in it actions and transfers are.
class Walk {
 public:
  Walk(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule),
        order_(program_order(schedule, times)),
        simulation_(simulator::simulate_schedule(schedule, times)) {
    std::vector<size_t> next(schedule.actions.size(), 0);
    for (size_t at = 0; at < order_.size(); ++at) {
      const ScheduleStep& step = order_[at];
      const Key key = key_of(is_forward(step.action), step.stage, step.action);
      if (step.kind != ScheduleStep::kAction) {
        EXPECT_TRUE(transfers_.emplace(key, at).second) << "a transfer twice";
        EXPECT_EQ(step.kind == ScheduleStep::kTransferForward, is_forward(step.action));
        continue;
      }
      const auto stage = static_cast<size_t>(step.stage);
      const size_t i = next[stage]++;
      EXPECT_EQ(step.action, schedule.actions[stage].at(i)) << "not in the stage's order";
      starts_.push_back({at, simulation_.spans[stage][i].start});
      if (is_weight(step.action)) continue;
      actions_[key] = at;
      ends_[key] = simulation_.spans[stage][i].end;
    }
    for (size_t s = 0; s < next.size(); ++s) EXPECT_EQ(next[s], schedule.actions[s].size());
  }

  void expect_transfers_between_neighbours_alone() const {
    const int last = schedule_.virtual_stages() - 1;
    EXPECT_EQ(transfers_.size(), 2u * static_cast<size_t>(last * schedule_.micro_batches));
    for (const auto& [key, at] : transfers_) {
      const auto [forward, from, micro_batch] = key;
      EXPECT_NE(from, forward ? last : 0);
    }
  }

  void expect_data_before_use() const {
    for (const auto& [key, at] : transfers_) {
      const auto [forward, from, micro_batch] = key;
      EXPECT_LT(actions_.at(key), at);
      EXPECT_GT(actions_.at({forward, forward ? from + 1 : from - 1, micro_batch}), at);
    }
  }

  // No action stands before a transfer whose data is there when the action starts, or earlier.
  void expect_transfers_early() const {
    for (const auto& [key, at] : transfers_) {
      for (const auto& [where, start] : starts_) {
        if (where < at) {
          EXPECT_LT(start, ends_.at(key) + kRounding);
        }
      }
    }
  }

  void expect_sorted_by_start() const {
    for (size_t i = 1; i < starts_.size(); ++i) {
      EXPECT_LE(starts_[i - 1].second, starts_[i].second + kRounding);
    }
  }

 private:
  using Key = std::tuple<bool, int, int>;  // forward?, virtual stage, micro-batch
  Key key_of(bool forward, int stage, const Action& action) const {
    return {forward, schedule_.virtual_stage(stage, action.chunk), action.micro_batch};
  }

  const Schedule& schedule_;
  std::vector<ScheduleStep> order_;
  Simulation simulation_;
  std::map<Key, size_t> actions_;  // place of the forward or backward
  std::map<Key, double> ends_;
  std::map<Key, size_t> transfers_;
  std::vector<std::pair<size_t, double>> starts_;  // place and start of every action
};

TEST(ProgramOrder, HoldsEveryActionAndTransferInTime) {
  for (const Schedule& schedule : many_schedules()) {
    for (const ActionTimes& times : {ActionTimes{}, ActionTimes{18.5, 18.1, 9.3, 0.6}}) {
      SCOPED_TRACE(name_of(schedule));
      const Walk walk(schedule, times);
      walk.expect_transfers_between_neighbours_alone();
      walk.expect_data_before_use();
      walk.expect_transfers_early();
      walk.expect_sorted_by_start();
      if (HasFailure()) return;
    }
  }
}

TEST(ProgramOrder, TimesOfZeroKeepDependencies) {
  for (const Schedule& schedule : many_schedules()) {
    for (const ActionTimes& times : {ActionTimes{0, 0, 0, 0}, ActionTimes{1, 0, 0, 0}}) {
      SCOPED_TRACE(name_of(schedule));
      const Walk walk(schedule, times);
      walk.expect_transfers_between_neighbours_alone();
      walk.expect_data_before_use();
      walk.expect_sorted_by_start();
      if (HasFailure()) return;
    }
  }
}

std::string text_of(const Schedule& schedule, const std::vector<ScheduleStep>& order) {
  std::string text;
  for (const ScheduleStep& step : order) {
    const char* arrow = step.kind == ScheduleStep::kAction            ? ""
                        : step.kind == ScheduleStep::kTransferForward ? ">"
                                                                      : "<";
    text += fmt::format("{}{}:{}{}", text.empty() ? "" : " ", step.stage,
                        text_of(schedule, step.action), arrow);
  }
  return text;
}

TEST(ProgramOrder, SmallExamples) {
  const Schedule two = one_forward_one_backward(2, 2);
  EXPECT_EQ(text_of(two, program_order(two)),
            "0:F0 0:F0> 0:F1 1:F0 0:F1> 1:B0 1:B0< 0:B0 1:F1 1:B1 1:B1< 0:B1");
  const Schedule same = interleaved(1, 1, 2);
  EXPECT_EQ(text_of(same, program_order(same)), "0:F0.0 0:F0.0> 0:F0.1 0:B0.1 0:B0.1< 0:B0.0");
}

}  // namespace
}  // namespace phi::distributed::pipeline
