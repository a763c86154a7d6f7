// Flags of `autophi run`.
#pragma once

#include <gflags/gflags.h>

#include <string>
#include <vector>

DECLARE_string(report);
DECLARE_string(metrics);
DECLARE_string(status_file);
DECLARE_string(trace);
DECLARE_string(trace_steps);
DECLARE_double(deadline_s);
DECLARE_bool(deferred_transfer);
DECLARE_bool(resume);
DECLARE_bool(quiet);
DECLARE_string(inject_error);
DECLARE_string(inject_hang);

namespace phi::job {

/// Their names, with those that other commands have too.
const std::vector<std::string>& run_flags();

/// Errors: UsageError for values out of range, and for flags that a job like this does not read.
void check_run_flags(bool generates);

}  // namespace phi::job
