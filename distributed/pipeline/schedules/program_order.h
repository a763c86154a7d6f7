// One order of all actions of all stages, with the transfers between stages as steps of their own.
//
// Every rank walks through the same list, runs the actions of its own stage and takes part in the
// transfers that begin or end there. The list is sorted by simulated time and respects every
// dependency, so ranks that block in each transfer cannot wait for each other in a circle.
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/pipeline/schedules/simulate.h"

namespace phi::distributed::pipeline {

struct Step {
  enum Kind : uint8_t {
    kAction,            // `stage` runs `action`
    kTransferForward,   // the output of `action`, a forward, goes to the next virtual stage
    kTransferBackward,  // the input gradient of `action`, a backward (for the input), to the one
                        // before
  };
  Kind kind = kAction;
  int stage = 0;  // that runs, or has run, `action`
  Action action;
  friend bool operator==(const Step&, const Step&) = default;
};

/// The stage that a transfer goes to: step.stage itself where it holds both virtual stages.
int receiving_stage(const Schedule& schedule, const Step& step);

/// Every action once and every transfer once. Actions of a stage keep their order. A transfer comes
/// after the action that makes its data, before the one that takes it, and before every action that
/// starts when the data is made or later (among actions that take no time, dependencies decide).
/// None leaves the last virtual stage forward or the first backward; one between two virtual stages
/// of the same stage is listed too.
/// Errors: those of simulate.
std::vector<Step> program_order(const Schedule& schedule, const ActionTimes& times = {});

}  // namespace phi::distributed::pipeline
