// Runs the steps of a captured program, whose arrays are bound.
#pragma once

#include <functional>

#include "api/capture/execution/program_arena.h"
#include "api/capture/execution/program_state.h"

namespace phi {

/// Runs the step of one launch of the plan.
using RunLaunch = std::function<void(int32_t launch)>;

/// Calls `run_all` with the function that runs a launch, and adds what the capture counted to the
/// rank's counters, trace and generator. Errors: those of `run_all`, with the number and name of
/// the latest step.
void run_steps(ProgramState& program, const ProgramArena& arena,
               const std::function<void(const RunLaunch&)>& run_all);

/// Runs all launches in order, with the plan's transfers between them.
void run_in_order(ProgramState& program, const ProgramArena& arena, const RunLaunch& run);

}  // namespace phi
