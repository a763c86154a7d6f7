// The fingerprint of a job: everything that all ranks must have in common, and that checkpoints
// store to identify their job.
#pragma once

#include <span>
#include <string_view>

#include "distributed/config_check/config_check.h"
#include "tools/job/setup.h"

namespace phi::job {

/// Every key of the job after settling ("model.heads"), flags ("--deadline_s") except
/// rank_local_flags, environment variables that change results, and hashes of the files of text
/// and weights ("data.content", "weights.content"). Reads some pages of these files.
/// distributed::to_json converts it to text.
/// Errors: those of MappedFile.
distributed::ConfigEntries fingerprint(const Setup& setup);

/// A flag in which ranks may differ, and why.
struct RankLocalFlag {
  std::string_view flag;
  std::string_view reason;
};
std::span<const RankLocalFlag> rank_local_flags();

}  // namespace phi::job
