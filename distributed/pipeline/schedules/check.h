// Checks of a schedule's table: completeness, deadlocks and memory.
//
//   Schedule mine = one_forward_one_backward(4, 8);
//   std::swap(mine.actions[0][0], mine.actions[0][4]);
//   check(mine);   // throws: stage 0 runs backward of micro-batch 0 before its forward
#pragma once

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Checks that every stage runs each (micro-batch, chunk) forward once and then backward once,
/// either whole or as input and then weight. Errors: InvalidArgument that names the stage and the
/// action.
void check_complete(const Schedule& schedule);

/// Runs check_complete, and checks that no stage waits for ever. If `kind` is a ScheduleKind, also
/// checks that no stage holds more micro-batches than memory_bound. Errors: InvalidArgument that
/// names the stage, and what it waits for or holds.
void check(const Schedule& schedule);

}  // namespace phi::distributed::pipeline
