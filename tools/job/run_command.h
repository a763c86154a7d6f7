// `autophi run JOB.yaml`: runs the job that the file describes, on all processes that mpirun
// started.
#pragma once

#include <chrono>
#include <string>

namespace phi::job {

/// A command line as it was read, before the process knows of others.
struct RunLine {
  std::string file{};                          // of the job
  std::string fault{};                         // what is wrong with the line; empty: nothing
  std::chrono::milliseconds start_deadline{};  // of distributed::init
};

/// argv[0] is "run". Sets the flags, which say how long to wait for other ranks at the start; what
/// is wrong is said later, when all ranks can agree on who says it.
RunLine read_run_line(int argc, char** argv);

/// Between distributed::init and finalize. Gives the exit status; a rank's failure ends the whole
/// job from inside.
int run_command(const RunLine& line);

/// What `autophi run --help` prints.
const char* run_help();

}  // namespace phi::job
