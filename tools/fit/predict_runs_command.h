// `autophi predict_runs`: predicts measured runs of Megatron-DeepSpeed on a machine.
#pragma once

namespace phi::fit {

/// The process's exit status. Errors: UsageError; those of read_runs and read_machine.
int predict_runs_command(int argc, char** argv);

}  // namespace phi::fit
