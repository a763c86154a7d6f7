// Resolves paths of job files.
#include "tools/job/config/job_paths.h"

namespace phi::job {

std::filesystem::path base_of(const JobConfig& config) {
  return std::filesystem::absolute(config.file).parent_path().parent_path();
}

std::string library_path(const JobConfig& config, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path in_base = base_of(config) / path;
  const bool is_here = std::filesystem::exists(path, ignored);
  return !is_here && std::filesystem::exists(in_base, ignored) ? in_base.string() : path;
}

}  // namespace phi::job
