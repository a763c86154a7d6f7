// `autophi simulate JOB.yaml --machine=FILE`: predicts a step of a job on a machine.
#pragma once

namespace phi::job {

/// argv[0] is "simulate". Returns the exit status. Errors: UsageError; those of prepare() and
/// predict_job().
int simulate_command(int argc, char** argv);

}  // namespace phi::job
