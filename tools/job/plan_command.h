// The plan subcommand.
#pragma once

namespace phi::job {

/// `autophi plan JOB.yaml`: chooses a layout and writes the planned job. Returns the exit status.
/// Errors: UsageError; those of prepare() and of the planner.
int plan_command(int argc, char** argv);

}  // namespace phi::job
