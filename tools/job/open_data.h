// Opens the data of a job.
#pragma once

#include <memory>

#include "api/data/sample_data.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// Errors: InvalidArgument `FILE:LINE: key 'data.paths': ...` for files that are missing or
/// invalid, and for 'model.seq_len' if the data has no room for a window.
std::unique_ptr<data::SampleData> open_data(const JobConfig& config);

}  // namespace phi::job
