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

/// The path of the machine file of this name, or else `name_or_path`. Errors: NotFound if there is
/// neither; it lists the names.
std::string machine_path(const std::string& name_or_path);
/// Reads the file at machine_path. Errors: those of machine_path and read_machine.
MachineModel find_machine(const std::string& name_or_path);

}  // namespace phi::distributed::simulator
