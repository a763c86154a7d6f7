// Files that are given by name or by folder.
#pragma once

#include <string>
#include <vector>

namespace phi::yaml {

/// The paths; a folder stands for the .yaml files in it, in the order of their names. Errors:
/// NotFound for a folder without any.
std::vector<std::string> files_of(const std::vector<std::string>& paths);

}  // namespace phi::yaml
