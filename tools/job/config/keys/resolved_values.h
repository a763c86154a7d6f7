// A settled job's values by key, as text: ranks compare them before they start, and checkpoints
// store them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

/// ("model.heads", "6"), ...: a row for each key of job_keys() that is no section, in its order;
/// of `model` only the keys of the job's kind.
/// Errors: Internal for a key whose value resolved_values.cc does not know.
std::vector<std::pair<std::string, std::string>> resolved_values(const JobConfig& config);

/// Whether it is the name of a section ("model") and not of a key.
bool is_section(std::string_view path);

}  // namespace phi::job
