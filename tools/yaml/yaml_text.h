// YAML that people and programs write, read so that whatever is wrong is one error of file and
// line.
//
//   const YAML::Node root = yaml::load(yaml::read_text(path, "job file"), path);
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace phi::yaml {

/// All of the file. `what` names it in messages. Errors: NotFound if it cannot be read, is no
/// ordinary file (a device and a pipe may have no end), or is larger than 16 MiB.
std::string read_text(const std::string& path, std::string_view what);

/// The one document of the text; `file` is named in errors. Errors: InvalidArgument `FILE:LINE:
/// ...` for what is not YAML, for a second document, and for values nested more than 64 deep.
YAML::Node load(const std::string& text, const std::string& file);

}  // namespace phi::yaml
