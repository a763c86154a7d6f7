// Flags of Open MPI's mpirun.
#include "distributed/supervise/mpirun.h"

#include <unistd.h>

#include <sstream>
#include <thread>

namespace phi::distributed::supervise {

MpirunOptions mpirun_options(const std::string& program, const std::string& words) {
  MpirunOptions options{.program = program};
  std::istringstream in(words);
  for (std::string word; in >> word;) options.words.push_back(word);
  return options;
}

std::vector<std::string> mpirun_command(const MpirunOptions& options, int64_t ranks,
                                        const std::vector<std::string>& program) {
  std::vector<std::string> words = {options.program, "-n", std::to_string(ranks)};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  if (!options.hosts.empty()) {
    words.insert(words.end(), {"--host", options.hosts});
  } else if (ranks > static_cast<int64_t>(std::thread::hardware_concurrency())) {
    words.emplace_back("--oversubscribe");
  }
  words.insert(words.end(), options.words.begin(), options.words.end());
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace phi::distributed::supervise
