// The timeline of a simulated step, in the format of `autophi run --trace`.
#pragma once

#include <cstddef>
#include <string>

#include "distributed/simulator/simulate.h"
#include "distributed/simulator/world_programs.h"

namespace phi::simulation {

/// The most ranks that a trace has one by one; of more ranks it has the lowest of each class.
inline constexpr size_t kMostTracedRanks = 64;

struct StepTrace {
  std::string json;
  size_t ranks = 0;   // that the trace has
  size_t events = 0;  // of all of them
};

/// `step` has a timeline. A launch is an operator; a call and the wait for a started one are calls,
/// with the group; messages of started calls are in flight until they have arrived.
StepTrace trace_of(const distributed::simulator::WorldPrograms& world,
                   const distributed::simulator::SimulatedStep& step);

}  // namespace phi::simulation
