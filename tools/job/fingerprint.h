// The fingerprint of a job: all that its ranks must have the same of, and that a checkpoint keeps
// to say of what job it is.
#pragma once

#include <span>
#include <string_view>

#include "distributed/agreement/agreement.h"
#include "tools/job/setup.h"

namespace phi::job {

/// Every key of the job as it is settled ("model.heads"); the flags ("--deadline_s") but those of
/// flags_of_one_rank; variables of the environment that change numbers; what is in the files of
/// text and weights ("data.content", "weights.content"). Reads some pages of these files.
/// distributed::to_json makes one text of it. Errors: those of MappedFile.
distributed::Facts fingerprint(const Setup& setup);

/// A flag that ranks may have differently, and why.
struct FlagOfOneRank {
  std::string_view flag;
  std::string_view reason;
};
std::span<const FlagOfOneRank> flags_of_one_rank();

}  // namespace phi::job
