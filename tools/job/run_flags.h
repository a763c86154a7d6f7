// Flags of `autophi run`.
#pragma once

#include <gflags/gflags.h>

#include <chrono>
#include <string>
#include <vector>

DECLARE_string(report);
DECLARE_string(metrics);
DECLARE_string(tensorboard);
DECLARE_string(status_file);
DECLARE_string(trace);
DECLARE_string(trace_steps);
DECLARE_string(explain);
DECLARE_string(check);
DECLARE_double(deadline_s);
DECLARE_bool(deferred_transfer);
DECLARE_bool(resume);
DECLARE_bool(strict_collectives);
DECLARE_bool(quiet);
DECLARE_bool(tf32);
DECLARE_bool(graphs);
DECLARE_string(machine);
DECLARE_string(inject_error);
DECLARE_string(inject_hang);

namespace phi::job {

/// Names of the flags, including those shared with other commands.
const std::vector<std::string>& run_flags();

/// The flags whose value is optional.
const std::vector<std::string>& run_flags_alone();

/// The time to wait for other ranks at the start: --deadline_s if it is set, but at least long
/// enough to start processes on a busy machine; else 0, which means the environment's default.
std::chrono::milliseconds start_deadline();

/// Errors: UsageError for values out of range, and for flags that such a job does not read.
void check_run_flags(bool generates);

}  // namespace phi::job
