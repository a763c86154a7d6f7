// --explain: one step of the job, and what its calls did. --check: steps whose calls are looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/explain/explain.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// Makes a job one whose first step is explained: one step, call by call, nothing saved. `is_dry`:
/// it is played. Errors: UsageError for a job under memory limits that runs, which has no room so.
void settle_explained(bool is_dry, JobConfig* config);

/// Makes a job one whose steps are taken call by call, for --check. Errors: UsageError as above.
void settle_checked(JobConfig* config);

/// Runs `step`, and on rank 0 puts out what all ranks did: to standard output where `path` is
/// cli::kAlone, else to that file, as JSON where its name ends so. Gives why nothing was put out;
/// empty: it was. Collective over the job.
std::string explain_step(const std::function<void()>& step, const TensorNames& names,
                         const std::string& path);

/// Runs step `number` as `check` says: "ops" or "numbers". Returns how many calls "ops" has
/// compared on this rank. Errors: what the check finds.
int64_t checked_step(const std::string& check, int64_t number, const std::function<void()>& step,
                     const TensorNames& names);

}  // namespace phi::job
