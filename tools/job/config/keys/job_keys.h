// The list of all keys of a job file, and of the jobs that read each.
//
// If a job sets a key that it does not read to another value than the default, that is an error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

/// A condition on a job for it to read a key.
struct KeyCondition {
  std::string wanted;  // "mode: train"
  std::function<bool(const JobConfig&)> holds;
  std::function<std::string(const JobConfig&)> instead;  // what a job that fails it has
};

struct JobKey {
  std::string path;                           // "optimizer.momentum"
  std::vector<KeyCondition> conditions = {};  // all must hold; empty: every job reads it
};

/// All keys, section by section. Those of `model` are the keys of all kinds that are registered
/// now.
std::vector<JobKey> job_keys();

/// Names of the keys of a section: "" for the whole file, else with a trailing dot, "run.".
std::vector<std::string> key_names(std::string_view section);

/// The first condition of a key that does not hold; nothing if the job reads it.
std::optional<KeyCondition> unmet_condition(const JobConfig& config, std::string_view path);

/// Removes the keys that `config` reads from config->unread.
void note_read_keys(JobConfig* config);

/// note_read_keys(), then throws if keys are left.
/// Errors: InvalidArgument `FILE:LINE: key 'x.y': ...` for the first key in config->unread; it
/// names the condition for the key and what this job has instead.
void check_keys_are_read(JobConfig* config);

}  // namespace phi::job
