// Reads the command line before gflags does, which keeps the last value only.
#include "tools/cli/repeated_flags.h"

#include <sstream>

namespace phi::cli {

std::vector<std::string> repeated(int argc, char** argv, std::string_view flag) {
  std::vector<std::string> values;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (!word.starts_with('-')) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (word.starts_with(flag) && word.substr(flag.size()).starts_with('=')) {
      values.emplace_back(word.substr(flag.size() + 1));
    } else if (word == flag && i + 1 < argc) {
      values.emplace_back(argv[++i]);
    }
  }
  return values;
}

std::vector<std::string> elements_of(const std::vector<std::string>& lists) {
  std::vector<std::string> out;
  for (const std::string& list : lists) {
    std::istringstream stream(list);
    for (std::string element; std::getline(stream, element, ',');) out.push_back(element);
  }
  return out;
}

}  // namespace phi::cli
