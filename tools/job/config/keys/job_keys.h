// The keys of a job file, and for which jobs each is read: the one list that says both.
//
// A job that gives a key another value than its default, and that does nothing with it, is wrong
// about what it says: that is an error, not silence.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/job/config/config.h"

namespace phi::job {

/// What a job must be for a key of it to be read.
struct Reader {
  std::string_view wanted;  // "mode: train"
  bool (*holds)(const JobConfig&);
  std::string (*instead)(const JobConfig&);  // what a job for which it does not hold has
};

struct JobKey {
  std::string_view path;                    // "optimizer.momentum"
  std::vector<const Reader*> readers = {};  // all must hold; none: every job reads it
};

/// Every key there is, section by section.
std::span<const JobKey> job_keys();

/// Names of the keys of a section ("" for the whole file, else with a dot at the end: "run.").
std::vector<std::string> key_names(std::string_view section);

/// The first reader of a key that does not hold; null if the job reads it.
const Reader* missing_reader(const JobConfig& config, std::string_view path);

/// Takes the keys that `config` reads out of config->unread.
void note_read_keys(JobConfig* config);

/// The same, and what is left is an error. Errors: InvalidArgument `FILE:LINE: key 'x.y': ...` for
/// the first key in config->unread, which names who would read it and what this job has instead.
void check_keys_are_read(JobConfig* config);

}  // namespace phi::job
