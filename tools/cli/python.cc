// Starts the interpreter of --python.
#include "tools/cli/python.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "phi/common/errors.h"

DEFINE_string(python, "python3", "a Python with the packages that the subcommand needs");

namespace phi::cli {

void become_python(std::vector<std::string> arguments, std::string_view purpose,
                   std::string_view install) {
  std::vector<char*> argv = {FLAGS_python.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  throw errors::NotFound(
      "{}, and '{}' cannot be started: {}. Install Python 3 and the package ({}), or pass "
      "--python=PATH.",
      purpose, FLAGS_python, std::strerror(errno), install);
}

}  // namespace phi::cli
