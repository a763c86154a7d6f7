// The times of a schedule: those given for its actions, and those that a simulation finds
// (distributed/simulator/simulate_schedule.h).
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

/// Errors: InvalidArgument that names a time which is negative or not finite.
void check_times(const ActionTimes& times);

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

}  // namespace phi::distributed::pipeline
