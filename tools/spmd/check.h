// Runs case files and reports failures.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace phi::spmd_tool {

/// Runs all cases of `paths` (files, or folders of them). Prints each failure and, last, "N passed,
/// M failed, K set aside". N and M count the cases that must agree. Cases marked suspect or uneven,
/// and those listed in `differences` (a file, may be empty), are run and counted by kind before. A
/// file whose rule does not exist is one failure, by name. Returns M.
int check_cases(const std::vector<std::string>& paths, const std::string& differences,
                std::FILE* out);

}  // namespace phi::spmd_tool
