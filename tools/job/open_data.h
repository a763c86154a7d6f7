// Opens the data of a job.
#pragma once

#include <filesystem>

#include "api/data/token_data.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// The parent of the job file's folder: the second place where relative paths are resolved, after
/// the current folder.
std::filesystem::path base_of(const JobConfig& config);

/// Errors: InvalidArgument `FILE:LINE: key 'data.paths': ...` for files that are missing or
/// invalid, and for 'model.seq_len' if the data has no room for a window.
data::TokenData open_data(const JobConfig& config);

}  // namespace phi::job
