// Loads YAML; every problem is one error that names file and line.
//
//   const YAML::Node root = yaml::load(yaml::read_text(path, "job file"), path);
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace phi::yaml {

/// The content of a file. `what` names it in messages.
/// Errors: NotFound if it cannot be read, is no regular file (a device or a pipe may never end), or
/// is larger than 16 MiB.
std::string read_text(const std::string& path, std::string_view what);

/// Parses one YAML document; `file` is named in errors.
/// Errors: InvalidArgument `FILE:LINE: ...` for invalid YAML, a second document, and values nested
/// more than 64 deep.
YAML::Node load(const std::string& text, const std::string& file);

}  // namespace phi::yaml
