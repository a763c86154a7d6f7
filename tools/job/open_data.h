// The data of a job, opened as its file says.
#pragma once

#include "api/data/token_data.h"
#include "tools/job/config/config.h"

namespace phi::job {

/// Paths are looked for in the current folder, then in the folder above the job file's. Errors:
/// InvalidArgument `FILE:LINE: key 'data.paths': ...` for files that cannot be had or are not what
/// they should be; of 'model.seq_len' if no window has room.
data::TokenData open_data(const JobConfig& config);

}  // namespace phi::job
