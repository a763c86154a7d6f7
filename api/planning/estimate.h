// Estimates a layout from the costs of its parts, without recording its ranks.
#pragma once

#include <cstdint>

#include "api/planning/part_costs.h"

namespace phi::planning {

struct Estimate {
  double seconds = 0;  // of a step
  double issue = 0;    // of the host of a rank; a part of `seconds` only where it is longer
  int64_t bytes = 0;   // at the peak of a rank of the fullest stage
  int64_t fullest_stage = 0;
};

/// A time that no schedule of these parts falls below: the slowest stage computes its micro-batches
/// and its update, the first of them passes through the others, and its host issues all of them.
/// Much faster than estimate().
Estimate lower_bound(const distributed::JobLayout& layout, const PartCosts& costs);

/// Plays the schedule with one rank for each stage (simulation::ComposedStep). The bytes are those
/// of lower_bound(). Errors: those of simulation::simulate.
Estimate estimate(const distributed::JobLayout& layout, const PartCosts& costs,
                  const distributed::simulator::MachineModel& machine);

}  // namespace phi::planning
