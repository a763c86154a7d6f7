// Writes a job file with some keys changed; all others stay.
//
//   const std::string text = rewrite_job(read_text("job.yaml", "job file"), "job.yaml",
//                                        {{"run.zero_stage", "1"}, {"pipeline.cut", "[7, 9]"}});
#pragma once

#include <string>
#include <vector>

namespace phi::job {

struct ChangedKey {
  std::string path;   // "run.zero_stage", or a section: "placements"
  std::string value;  // as YAML, replaces the value of the key
};

/// The job in `text` with the changed keys, one key a line. Keys keep their order; those that are
/// new are the last of their section. Comments and anchors are lost. Values are copied as they are
/// written, so that parse_job gives the same job but for the changes. `file` is named in errors.
/// Errors: InvalidArgument for text or a value that is no YAML, and for a path below a value that
/// is no map.
std::string rewrite_job(const std::string& text, const std::string& file,
                        const std::vector<ChangedKey>& changes);

}  // namespace phi::job
