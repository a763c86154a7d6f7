// Pipeline schedules through the simulator: published bubble rates, and the times of
// pipeline::simulate.
#include "distributed/simulator/schedule_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate.h"
#include "figures/table.h"
#include "support/error_matchers.h"

namespace phi::distributed::simulator {
namespace {

using pipeline::Action;
using pipeline::ActionTimes;
using pipeline::make_schedule;
using pipeline::Schedule;

// The launches of each stage.
std::vector<std::vector<EventSpan>> spans_of(const Schedule& schedule, const ActionTimes& times) {
  const std::vector<RankProgram> programs = programs_of(schedule, times);
  const SimulatedStep step = simulate(programs, schedule_machine(times), {.keeps_timeline = true});
  std::vector<std::vector<EventSpan>> spans(programs.size());
  for (size_t stage = 0; stage < programs.size(); ++stage) {
    const std::vector<EventSpan>& all = step.timeline[step.class_of[stage]];
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::holds_alternative<Computation>(programs[stage].events[i]))
        spans[stage].push_back(all[i]);
    }
  }
  return spans;
}

// Stages do not wait for each other between batches.
double bubble_rate(const Schedule& schedule, const ActionTimes& times) {
  double cost = 0;
  for (const auto& spans : spans_of(schedule, times))
    cost = std::max(cost, spans.back().end - spans.front().start);
  const double ideal = static_cast<double>(schedule.micro_batches) * schedule.chunks *
                       (times.forward + times.backward_input + times.backward_weight);
  return std::max(0.0, (cost - ideal) / cost);
}

TEST(SchedulePrograms, ZeroBubbleTablesAreThePublishedOnes) {
  int compared = 0;
  for (const YAML::Node& row : figures::load("pipeline_schedules")["rows"]) {
    const ActionTimes times = {row["forward"].as<double>(), row["backward"].as<double>(),
                               row["weight"].as<double>(), row["comm"].as<double>()};
    for (const char* kind : {"1f1b", "zb_h1", "zb_h2"}) {
      const Schedule schedule =
          make_schedule(pipeline::parse_schedule_kind(kind), row["stages"].as<int>(),
                        row["micro_batches"].as<int>());
      const auto printed = row[kind].as<std::string>();
      EXPECT_EQ(figures::as_printed(bubble_rate(schedule, times), printed), printed)
          << row["model"] << ", " << schedule.micro_batches << " micro-batches, " << kind;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 18);
}

TEST(SchedulePrograms, ActionsHaveTheTimesOfTheScheduleSimulation) {
  for (const ActionTimes& times : {ActionTimes{1, 1, 1, 0}, {3, 2, 2, 0.25}, {5, 7, 1, 11}}) {
    for (const pipeline::ScheduleKind kind : pipeline::kScheduleKinds) {
      for (const int stages : {1, 2, 3, 8}) {
        for (const int micro_batches : {2 * stages, 5 * stages}) {
          const Schedule schedule = make_schedule(kind, stages, micro_batches);
          SCOPED_TRACE(schedule.kind + " of " + std::to_string(stages));
          const pipeline::Simulation expected = pipeline::simulate(schedule, times);
          const auto spans = spans_of(schedule, times);
          ASSERT_EQ(spans.size(), expected.spans.size());
          for (size_t stage = 0; stage < spans.size(); ++stage) {
            ASSERT_EQ(spans[stage].size(), expected.spans[stage].size());
            for (size_t i = 0; i < spans[stage].size(); ++i) {
              EXPECT_NEAR(spans[stage][i].start, expected.spans[stage][i].start, 1e-9);
              EXPECT_NEAR(spans[stage][i].end, expected.spans[stage][i].end, 1e-9);
            }
          }
        }
      }
    }
  }
}

TEST(SchedulePrograms, ADeadlockIsRefused) {
  // Stage 0 waits for the gradient of micro-batch 0, and stage 1 for the output of 1.
  using pipeline::ActionKind;
  Schedule schedule = make_schedule(pipeline::ScheduleKind::kGPipe, 2, 2);
  const auto pass = [](int m) {
    return std::vector{Action{ActionKind::kForward, m}, Action{ActionKind::kBackward, m}};
  };
  const std::vector<Action> first = pass(0), second = pass(1);
  schedule.actions[0] = {first[0], first[1], second[0], second[1]};
  schedule.actions[1] = {second[0], second[1], first[0], first[1]};
  EXPECT_THAT([&] { spans_of(schedule, {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "never makes: it waits in exchange"));
}

}  // namespace
}  // namespace phi::distributed::simulator
