// Runs a schedule on paper: when does each action start and end, and what part of the time idles.
//
// A stage runs its actions one after the other, each as soon as its data is there. Data reaches
// another stage `comm` after the action that makes it has ended; the link occupies neither stage
// (Qi et al. 2024, "Zero bubble pipeline parallelism", section 5 and tables 5 and 9).
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/memory.h"
#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Durations of one action, that is of one micro-batch through one model chunk, and of one transfer
/// to a neighbour, all in one unit. A whole backward takes backward_input + backward_weight.
struct ActionTimes {
  double forward = 1;
  double backward_input = 1;
  double backward_weight = 1;
  double comm = 0;
};
/// How long an action runs.
double duration(const ActionTimes& times, ActionKind kind);

struct Span {
  double start = 0;
  double end = 0;
};

struct Simulation {
  std::vector<std::vector<Span>> spans;  // as Schedule::actions; the first action starts at 0
  double makespan = 0;                   // the last end
  /// The longest time that any stage takes from its first start to its last end. Stages do not wait
  /// for each other between batches, so this, not the makespan, is what a batch costs.
  double cost = 0;
  double ideal = 0;                     // what a stage works
  double bubble_rate = 0;               // (cost - ideal) / cost; 0 where everything takes no time
  std::vector<PeakMicroBatches> peaks;  // one per stage
};

/// Errors: InvalidArgument if a time is negative or not finite, if the table is not complete (see
/// check_complete), or if it deadlocks, with the action that each stage waits at.
Simulation simulate(const Schedule& schedule, const ActionTimes& times);

}  // namespace phi::distributed::pipeline
