// Simulates a step of all ranks: when each one computes, sends and waits.
//
// A rank computes its launches one after the other. A collective ends when all members have arrived
// and the slowest has received its messages. A point-to-point message arrives when its sender and
// its receiver have posted it and it has been transferred. A host issues launches and calls ahead
// of its device, and the device waits for it where launches are short. Started calls proceed beside
// computation. Messages that arrive over one link at the same time have equal parts of it, and so
// have ranks that compute at the same time of the cores that they share (link_traffic.h). Messages
// that a core receives use it (MachineModel::receives_by_core).
//
// Ranks whose steps take the same times are simulated once (rank_classes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"
#include "distributed/simulator/world_programs.h"

namespace phi::distributed::simulator {

/// Of one rank, in seconds. They add up to the step: compute + exposed + bubble.
struct RankTime {
  double compute = 0;
  double exposed = 0;  // communication that the rank waits for
  double bubble = 0;   // waiting for other ranks to arrive, also at the end of the step

  friend bool operator==(const RankTime&, const RankTime&) = default;
};

/// When an event begins and ends. A started call ends when its messages have arrived.
struct EventSpan {
  double start = 0;
  double end = 0;
};

struct SimulatedStep {
  double seconds = 0;                            // until the last rank ends
  std::vector<RankTime> ranks;                   // by rank
  std::vector<std::string> unlisted;             // operators that no family lists, sorted
  size_t classes = 0;                            // ranks whose steps take the same times are one
  std::vector<size_t> class_of;                  // by rank
  std::vector<size_t> representatives;           // by class: its lowest rank
  std::vector<std::vector<EventSpan>> timeline;  // by class and event; only if it is kept
};

struct SimulateOptions {
  std::map<int64_t, double> slow{};  // by what factor the launches of a rank take longer
  bool one_by_one = false;           // every rank is a class of its own; the times are the same
  bool keeps_timeline = false;
};

/// Errors: InvalidArgument if calls of two ranks do not match, or if a call is never made by one of
/// its members; both ranks are named. OutOfRange for a slow rank that the world does not have.
/// Those of MachineModel.
SimulatedStep simulate(const WorldPrograms& world, const MachineModel& machine,
                       const SimulateOptions& options = {});
/// `programs` are those of ranks 0, 1, ...
SimulatedStep simulate(std::span<const RankProgram> programs, const MachineModel& machine,
                       const SimulateOptions& options = {});

}  // namespace phi::distributed::simulator
