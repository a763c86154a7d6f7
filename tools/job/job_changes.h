// The differences between a job and the checkpoint from which it continues.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "distributed/config_check/config_check.h"

namespace phi::job {

/// Metadata key of the saving job's configuration, as JSON.
inline constexpr const char* kJobKey = "job";

/// Changed keys that affect results, as "data.seed was 1 and is 2". Mesh, schedule, memory and
/// similar keys are not reported, because a job may continue with other values. Empty for metadata
/// without a job.
/// Errors: InvalidArgument, with keys and both values, for another model or global batch, with
/// which training cannot continue.
std::vector<std::string> changes_since(const std::map<std::string, std::string>& metadata,
                                       const distributed::ConfigEntries& entries);

}  // namespace phi::job
