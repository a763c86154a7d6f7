// `autophi run JOB.yaml`: runs a job on all processes that mpirun started.
#pragma once

#include <chrono>
#include <string>

namespace phi::job {

/// The command line, parsed before the process connects to others.
struct RunCommandLine {
  std::string file{};                          // of the job
  std::string fault{};                         // error in the line; empty: none
  std::chrono::milliseconds start_deadline{};  // of distributed::init
};

/// argv[0] is "run". Sets the flags, including the start deadline. Errors are stored in `fault` and
/// reported later, when the ranks are connected and one of them can report them.
RunCommandLine parse_run_command_line(int argc, char** argv);

/// Call it between distributed::init and finalize. Returns the exit status. A rank that fails ends
/// the whole job instead of returning.
int run_command(const RunCommandLine& line);

/// The text that `autophi run --help` prints.
const char* run_help();

}  // namespace phi::job
