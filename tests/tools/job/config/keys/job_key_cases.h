// The cases of all keys of a job file: another value than the default, the jobs that read it, and
// the errors of those that do not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

using Settings = std::map<std::string, std::string>;  // "run.steps" -> "5"

// A job in which the key is not read, and what the error says of it.
struct Unread {
  Settings job;
  const char* words;
};

struct KeyCase {
  const char* path;
  const char* other;  // than the default
  const char* by_default;
  Settings job;  // with which it is read
  std::string (*seen)(const JobConfig&);
  std::vector<Unread> unread = {};
};

/// `job` with a mesh.
Settings on_mesh(const char* shape, const char* dims, Settings job = {});

const std::vector<KeyCase>& key_cases();

}  // namespace phi::job
