// Flags that are lists, and that may be given several times: "--slow=1:2 --slow=3:4".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace phi::cli {

/// The values of a flag in the order of the command line; argv is not changed.
std::vector<std::string> repeated(int argc, char** argv, std::string_view flag);

/// The elements of lists that are separated by commas.
std::vector<std::string> elements_of(const std::vector<std::string>& lists);

}  // namespace phi::cli
