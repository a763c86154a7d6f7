// Machine files by name: those that come with the library.
//
//   const MachineModel machine = find_machine("h100_80g");     // or "my/machine.yaml"
#pragma once

#include <string>
#include <vector>

#include "distributed/simulator/machine.h"

namespace phi::distributed::simulator {

/// The names of the machine files that are installed with the library, sorted.
std::vector<std::string> machine_names();

/// Reads the machine file of this name, or else the file at this path. Errors: NotFound if there is
/// neither; it lists the names. Those of parse_machine.
MachineModel find_machine(const std::string& name_or_path);

}  // namespace phi::distributed::simulator
