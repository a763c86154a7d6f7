// report_of: runs a job in one call, for programs in other languages; the equivalent of `autophi
// run`.
//
//   | report_of("{mode: train, run: {steps: 4}}", "my job", {{"mesh", "dp=2"}, {"quiet", "true"}})
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tools/job/setup.h"

namespace phi::job {

/// Runs the job described by `text` (YAML or JSON) and returns its report as JSON. `name` is the
/// file name in messages; relative paths are resolved in its folder. `flags` are those of `autophi
/// run`. Flags and world are restored afterwards, and counters start at the job. `progress` is
/// called on rank 0, even if the job is quiet; if it throws, the job ends.
///
/// Ranks    Every rank of the job calls it; all return the same report.
/// Errors   InvalidArgument, on every rank, for invalid text or flags; PreconditionNotMet on a rank
///          that is a thread, or in a dry world; Unavailable for outputs that could not be written;
///          errors of the job.
std::string report_of(const std::string& text, const std::string& name,
                      const std::map<std::string, std::string>& flags,
                      const std::optional<ProgressSink>& progress = std::nullopt);

}  // namespace phi::job
