// Checks the rows of `placements` against the model, before a job starts.
#pragma once

#include "tools/job/config/config.h"

namespace phi::job {

/// Constructs the model of a settled job with its placements, and plays a forward pass on a dry
/// rank. Does nothing for a job without rows.
/// Errors: InvalidArgument `FILE:LINE: key 'placements.parameters.PATTERN': ...` for the first row
/// that the model refuses: it matches no name, or a tensor cannot have its placements.
void check_placements(const JobConfig& config);

}  // namespace phi::job
