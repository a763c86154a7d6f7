// Proofs about a schedule's table.
//
//   Schedule mine = one_forward_one_backward(4, 8);
//   std::swap(mine.actions[0][0], mine.actions[0][4]);
//   check(mine);   // throws: stage 0 runs backward of micro-batch 0 before its forward
#pragma once

#include "distributed/pipeline/schedules/schedule.h"

namespace phi::distributed::pipeline {

/// Every stage runs each (micro-batch, chunk) forward once and backward once, whole or as input
/// and then weight, in this order.
/// Errors: InvalidArgument naming the stage and the action.
void check_complete(const Schedule& schedule);

/// check_complete; no stage waits forever; where `kind` is one of ours, no stage holds more
/// micro-batches than memory_bound says.
/// Errors: InvalidArgument naming the stage, and what it waits for or holds.
void check(const Schedule& schedule);

}  // namespace phi::distributed::pipeline
