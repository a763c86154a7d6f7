// report_of: a job by one call, for programs in other languages; what `autophi run` does by words
// of a command line.
//
//   | report_of("{mode: train, run: {steps: 4}}", "my job", {{"mesh", "dp=2"}, {"quiet", "true"}})
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tools/job/setup.h"

namespace phi::job {

/// Runs the job that the text (YAML or JSON) says and gives its report as JSON. `name` is the file
/// in messages, whose folder relative paths are looked for in; `flags` are those of `autophi run`.
/// Flags and world are as before when it has ended, and counts begin with it. `progress`: shown by
/// rank 0, also if the job is quiet; what it throws ends the job.
///
/// Ranks    every rank of the job calls it, and gets the same report.
/// Errors   InvalidArgument for what is wrong with the text or the flags, on every rank;
///          PreconditionNotMet on a rank that is a thread, or in a dry world; Unavailable for
///          outputs that could not be written; what the job throws.
std::string report_of(const std::string& text, const std::string& name,
                      const std::map<std::string, std::string>& flags,
                      const std::optional<ShownProgress>& progress = std::nullopt);

}  // namespace phi::job
