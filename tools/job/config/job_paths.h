// Relative paths of a job file: they are resolved in the current folder, then in the parent of the
// job file's folder.
#pragma once

#include <filesystem>
#include <string>

#include "tools/job/config/config.h"

namespace phi::job {

/// The parent of the job file's folder.
std::filesystem::path base_of(const JobConfig& config);

/// The path of a library of `ops` or `models`. If it does not exist, loading reports the error.
std::string library_path(const JobConfig& config, const std::string& path);

}  // namespace phi::job
