// Gathers texts of all ranks of the job.
#pragma once

#include <string>
#include <vector>

namespace phi {

/// One text per rank. Collective over the job; in a dry run, this rank's alone.
std::vector<std::string> gathered_texts(const std::string& own);

}  // namespace phi
