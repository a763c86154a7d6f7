// The data of a job, opened as its file says.
#pragma once

#include <filesystem>

#include "api/data/token_data.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// The folder above the job file's, where the job's paths are looked for that are not in the
/// current folder.
std::filesystem::path base_of(const JobConfig& config);

/// Errors:
/// InvalidArgument `FILE:LINE: key 'data.paths': ...` for files that cannot be had or are not what
/// they should be; of 'model.seq_len' if no window has room.
data::TokenData open_data(const JobConfig& config);

}  // namespace phi::job
