// --explain: explains one step of the job. --check: checks the calls of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/explain/explain.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// Adjusts a job for --explain: one step, not captured, nothing saved. `is_dry`: it is a dry run.
/// Errors: UsageError for a job under memory limits that is no dry run, because it would exceed
/// them.
void adjust_for_explain(bool is_dry, JobConfig* config);

/// Adjusts a job for --check: steps are not captured. Errors: as adjust_for_explain.
void adjust_for_check(JobConfig* config);

/// Runs `step` and, on rank 0, writes what all ranks did to standard output if `path` is
/// cli::kNoValue, else to the file `path`, as JSON if its name ends in .json. Returns the reason if
/// the output could not be written, else an empty text. Collective over the job.
std::string explain_step(const std::function<void()>& step, const TensorNames& names,
                         const std::string& path);

/// Runs step `number` with the check "ops" or "numbers". Returns the number of calls that "ops"
/// compared on this rank.
/// Errors: those of the check.
int64_t checked_step(const std::string& check, int64_t number, const std::function<void()>& step,
                     const TensorNames& names);

}  // namespace phi::job
