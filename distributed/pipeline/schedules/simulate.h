// Simulates a schedule: start and end of each action, and the fraction of idle time.
//
// A stage runs its actions one after the other, each as soon as its data has arrived. Data reaches
// another stage `comm` after the end of the action that produces it; the link occupies neither
// stage (Qi et al. 2024, "Zero bubble pipeline parallelism", section 5 and tables 5 and 9).
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/peak_memory.h"
#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Durations in one unit: of an action (one micro-batch through one model chunk), and of a transfer
/// to a neighbour. A whole backward lasts backward_input + backward_weight.
struct ActionTimes {
  double forward = 1;
  double backward_input = 1;
  double backward_weight = 1;
  double comm = 0;
};
/// The duration of an action.
double duration(const ActionTimes& times, ActionKind kind);

struct Span {
  double start = 0;
  double end = 0;
};

struct Simulation {
  std::vector<std::vector<Span>> spans;  // indexed like Schedule::actions; the first action starts
                                         // at 0
  double makespan = 0;                   // end of the last action
  /// The cost of a batch: the longest time of any stage from its first start to its last end.
  /// Stages do not wait for each other between batches, so a batch costs this, not the makespan.
  double cost = 0;
  double ideal = 0;                     // time that a stage computes
  double bubble_rate = 0;               // (cost - ideal) / cost; 0 if all durations are 0
  std::vector<PeakMicroBatches> peaks;  // one per stage
};

/// Errors: InvalidArgument if a time is negative or not finite, if the table is incomplete
/// (check_complete), or if it deadlocks; that error names the action at which each stage waits.
Simulation simulate(const Schedule& schedule, const ActionTimes& times);

}  // namespace phi::distributed::pipeline
