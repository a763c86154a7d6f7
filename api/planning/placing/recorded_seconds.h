// The time of a rank's recorded program in which no rank waits for another.
#pragma once

#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::planning {

/// Picoseconds of `program`, of `rank`, one of `num_ranks` equal ranks that share the machine's
/// cores. Started calls are waited for at once. Whole numbers, so that the time of a program is the
/// sum of those of its parts.
/// Errors: those of MachineModel::time_of and link_between.
int64_t picoseconds_of(const distributed::simulator::RankProgram& program, int64_t rank,
                       int64_t num_ranks, const distributed::simulator::MachineModel& machine);

}  // namespace phi::planning
