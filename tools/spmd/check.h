// Checking of case files: who agrees, who does not, and what was expected to differ.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace phi::spmd_tool {

/// Runs all cases of `files` and prints each failure and, last, "N passed, M failed" over the cases
/// that must agree. Those marked suspect or uneven, and those listed in `differences` (a file, may
/// be empty), are run and counted apart. Returns M.
int check_cases(const std::vector<std::string>& files, const std::string& differences,
                std::FILE* out);

}  // namespace phi::spmd_tool
