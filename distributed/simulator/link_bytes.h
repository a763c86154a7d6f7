// What a rank sends in a step, by collective and by level of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "distributed/simulator/machine.h"
#include "distributed/simulator/world_programs.h"

namespace phi::distributed::simulator {

/// Bytes by the name of the call ("all_reduce") and by the outermost level that one of the rank's
/// messages in the call uses ("node").
using LinkBytes = std::map<std::string, std::map<std::string, int64_t>>;

/// Errors: InvalidArgument if no link connects two ranks that exchange messages.
LinkBytes link_bytes(const WorldPrograms& world, const MachineModel& machine, size_t rank);

}  // namespace phi::distributed::simulator
