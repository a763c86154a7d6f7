// Resolves a path that a user wrote, in the current folder and then in a base folder.
#pragma once

#include <filesystem>
#include <string>

namespace phi::data {

/// Errors: NotFound naming the path and the folders searched; InvalidArgument for an empty one.
std::filesystem::path resolve_path(const std::string& path, const std::string& base);

}  // namespace phi::data
