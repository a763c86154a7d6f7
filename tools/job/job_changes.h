// What is different about a job that goes on from the checkpoint of another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "distributed/agreement/agreement.h"

namespace phi::job {

/// Of a checkpoint's metadata: the facts of the job that saved it, as JSON.
inline constexpr const char* kJobKey = "job";

/// "data.seed was 1 and is 2": of keys that change which numbers come out. Mesh, schedule, memory
/// and the like are not told of: a job may go on with others. Nothing for metadata without a job.
/// Errors: InvalidArgument for another model or global batch, which a training cannot go on with;
/// it names the keys and both values.
std::vector<std::string> changes_since(const std::map<std::string, std::string>& metadata,
                                       const distributed::Facts& facts);

}  // namespace phi::job
