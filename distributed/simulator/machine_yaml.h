// Machine files: a MachineModel as YAML (docs/predict.md lists the keys).
//
//   const MachineModel machine = read_machine("machine.yaml");
#pragma once

#include <string>

#include "distributed/simulator/machine.h"

namespace phi::distributed::simulator {

/// Errors: those of yaml::read_text, and of parse_machine.
MachineModel read_machine(const std::string& path);

/// `file` is named in errors. Errors: InvalidArgument `FILE:LINE: ...` for invalid YAML, a key that
/// is unknown, missing or set twice, and for a number out of range.
MachineModel parse_machine(const std::string& text, const std::string& file);

/// A text that parse_machine reads back as an equal machine.
std::string to_yaml(const MachineModel& machine);

}  // namespace phi::distributed::simulator
