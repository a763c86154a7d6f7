// Changes values of a machine file by their dotted keys.
#pragma once

#include <span>
#include <string>

#include "distributed/simulator/machine.h"

namespace phi::distributed::simulator {

/// Reads a machine file and sets `changes`, "cores=8" or "links.node.GBps=50": a key of a map, or
/// the name of an element of a list. Errors: those of read_machine; InvalidArgument for a change
/// that is not KEY=VALUE, a key that the machine does not have, and a value that it refuses.
MachineModel read_machine(const std::string& path, std::span<const std::string> changes);

}  // namespace phi::distributed::simulator
