// Expands file names and folders to YAML files.
#pragma once

#include <string>
#include <vector>

namespace phi::yaml {

/// Replaces each folder by the .yaml files in it, in the order of their names.
/// Errors: NotFound for a folder without any.
std::vector<std::string> files_of(const std::vector<std::string>& paths);

}  // namespace phi::yaml
