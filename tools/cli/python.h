// Python programs of subcommands.
#pragma once

#include <gflags/gflags_declare.h>

#include <string>
#include <string_view>
#include <vector>

/// The interpreter that subcommands start: a name in PATH or a path.
DECLARE_string(python);

namespace phi::cli {

/// Replaces this process by --python with these arguments. `purpose` begins the error: "tokenizing
/// is done by Python's package tokenizers"; `install` is the command that installs the package.
/// Errors: NotFound, with the system's reason, if Python cannot be started.
[[noreturn]] void become_python(std::vector<std::string> arguments, std::string_view purpose,
                                std::string_view install);

}  // namespace phi::cli
