// The programs of a pipeline schedule: a rank per stage, a launch per action.
//
//   const auto programs = programs_of(schedule, {18.522, 18.086, 9.337, 0.601});
//   const SimulatedStep step = simulate(programs, schedule_machine(times));
//
// A recorded job has the order of its schedule in its own programs.
#pragma once

#include <vector>

#include "distributed/pipeline/schedules/schedule_times.h"
#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

/// A stage receives from another one in the order in which that one sends, and waits for a piece
/// before the action that consumes it. Launches are named by their kind: "forward".
/// Errors: those of pipeline::check_complete.
std::vector<RankProgram> programs_of(const pipeline::Schedule& schedule,
                                     const pipeline::ActionTimes& times);

/// A machine on which a launch of n flops takes n seconds, and a message times.comm seconds.
MachineModel schedule_machine(const pipeline::ActionTimes& times);

}  // namespace phi::distributed::simulator
