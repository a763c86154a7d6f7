// `autophi export JOB.yaml`: writes the step of a job as StableHLO text, in one process and without
// computing anything.
#pragma once

namespace phi::job {

/// argv[0] is "export". Returns the exit status.
int export_command(int argc, char** argv);

}  // namespace phi::job
