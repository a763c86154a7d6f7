// `autophi run JOB.yaml`: runs the job that the file describes, on all processes that mpirun
// started.
#pragma once

namespace phi::job {

/// argv[0] is "run". Between distributed::init and finalize. Gives the exit status; a rank's
/// failure ends the whole job from inside.
int run_command(int argc, char** argv);

/// What `autophi run --help` prints.
const char* run_help();

}  // namespace phi::job
