// GroupLinks: which levels of a machine's links connect the ranks of a group, and how many of its
// members use each one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/simulator/machine.h"

namespace phi::distributed::simulator {

struct GroupLinks {
  struct Level {
    const LinkLevel* link = nullptr;
    bool is_innermost = false;  // of the machine: its links connect single ranks
    int64_t edges = 0;          // of a ring through the members in the order of their ranks
    int64_t units = 0;          // of the level before, with members: the most in one unit of this
    int64_t members = 0;        // in such a unit: the fewest. Their links carry a ring together
  };

  int64_t ranks = 0;
  std::vector<Level> levels;  // that connect members, from the inside out; none of one rank

  /// Bytes per second that pass between two neighbours of a ring. All members of a unit share its
  /// links to other units, because a library has as many rings as links. The slowest level limits.
  double ring_bytes_per_second() const;
};

/// Errors: InvalidArgument if no level connects two of the ranks.
GroupLinks links_of(const MachineModel& machine, std::span<const int64_t> ranks);

}  // namespace phi::distributed::simulator
