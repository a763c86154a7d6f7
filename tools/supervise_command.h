// autophi supervise: starts a job with mpirun, and starts it again from its newest checkpoint when
// it fails.
#pragma once

/// argv[0] is "supervise". Returns the exit status: that of the job (Supervisor::run), or
/// kUsageStatus for a command line or job that was not understood.
int supervise_command(int argc, char** argv);
