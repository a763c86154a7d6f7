// What a job has under each of its keys, as text: what ranks compare before they begin, and what a
// checkpoint keeps of the job that it is of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

/// ("model.heads", "6"), ...: a row for each key of job_keys() that is no section, in its order.
/// Errors: Internal for a key of which settled_values.cc does not know where its value lies.
std::vector<std::pair<std::string, std::string>> settled_values(const JobConfig& config);

/// Is it the name of a map of keys ("model"), and no key of its own?
bool is_section(std::string_view path);

}  // namespace phi::job
