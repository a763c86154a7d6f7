// Opens the data of a job.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/data/sample_data.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// Errors: InvalidArgument `FILE:LINE: key 'data.paths': ...` for files that are missing or
/// invalid, and for 'model.seq_len' if the data has no room for a window.
std::unique_ptr<data::SampleData> open_data(const JobConfig& config);

/// The same, for a prediction, which reads no data: files and folders that are not there are no
/// error, but a line is added to `absent`.
std::unique_ptr<data::SampleData> open_data_if_present(const JobConfig& config,
                                                       std::vector<std::string>* absent);

}  // namespace phi::job
