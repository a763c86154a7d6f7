// One global order of all actions of all stages, with transfers between stages as separate steps.
//
// Every rank walks through the same list, runs the actions of its own stage, and takes part in the
// transfers that begin or end there. The list is sorted by simulated time and respects every
// dependency. Ranks that block in each transfer therefore cannot deadlock.
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/pipeline/schedules/schedule_times.h"

namespace phi::distributed::pipeline {

struct ScheduleStep {
  enum Kind : uint8_t {
    kAction,            // `stage` runs `action`
    kTransferForward,   // the output of `action`, a forward, goes to the next virtual stage
    kTransferBackward,  // the input gradient of `action`, a backward or backward_input, goes to the
                        // previous one
  };
  Kind kind = kAction;
  int stage = 0;  // the stage that runs, or has run, `action`
  Action action;
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// Returns every action once and every transfer once. Actions of a stage keep their order. A
/// transfer comes after the action that produces its data, before the action that consumes it, and
/// before every action that starts when the data is produced or later (among actions of zero
/// duration, dependencies decide). The last virtual stage sends no output and the first sends no
/// gradient. A transfer between two virtual stages of one stage is listed too. Errors: those of
/// check_times and check_complete; InvalidArgument if stages wait for ever, which names the action
/// at which each one waits.
std::vector<ScheduleStep> program_order(const Schedule& schedule, const ActionTimes& times = {});

}  // namespace phi::distributed::pipeline
