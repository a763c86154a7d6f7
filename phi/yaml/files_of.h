// Expands file names and folders to YAML files.
#pragma once

#include <string>
#include <vector>

namespace phi::yaml {

/// Replaces each folder by the .yaml files in it and its folders, in the order of their paths.
/// Errors: NotFound for a folder without any.
std::vector<std::string> files_of(const std::vector<std::string>& paths);

}  // namespace phi::yaml
