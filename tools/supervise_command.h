// autophi supervise: starts a job with mpirun, and restarts it from its newest checkpoint if it
// fails.
#pragma once

/// argv[0] is "supervise". Returns the exit status: that of the job (Supervisor::run), or
/// kUsageStatus for an invalid command line or job.
int supervise_command(int argc, char** argv);
