// Simulates a step of all ranks: when each one computes, sends and waits.
//
// A rank computes its launches one after the other. A collective ends when all members have arrived
// and the slowest has received its messages. A point-to-point message arrives when its sender has
// posted it and it has been transferred. Started calls proceed beside computation. Messages do not
// slow each other or computation.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

/// Of one rank, in seconds. They add up to the step: compute + exposed + bubble.
struct RankTime {
  double compute = 0;
  double exposed = 0;  // communication that the rank waits for
  double bubble = 0;   // waiting for other ranks to arrive, also at the end of the step
};

struct SimulatedStep {
  double seconds = 0;                 // until the last rank ends
  std::vector<RankTime> ranks;        // by rank
  std::vector<std::string> unlisted;  // operators that no family lists, sorted
  size_t classes = 0;                 // ranks with equal programs are one class
};

/// `programs` are those of ranks 0, 1, ...
/// Errors: InvalidArgument if calls of two ranks do not match, or if a call is never made by one of
/// its members; both ranks are named. Those of MachineModel.
SimulatedStep simulate(std::span<const RankProgram> programs, const MachineModel& machine);

}  // namespace phi::distributed::simulator
