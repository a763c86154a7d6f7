// Reads /proc/PID/environ, which is readable for all processes of this user.
#include "distributed/supervise/marked_processes.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

extern "C" {  // missing in the header of glibc 2.36
#include <sys/pidfd.h>
}

namespace phi::distributed::supervise {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> pid_of(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

// Empty for a process that has ended, including zombies.
std::vector<std::string> environment_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  std::vector<std::string> variables;
  for (std::string each; std::getline(in, each, '\0');) variables.push_back(each);
  return variables;
}

bool has(const std::vector<std::string>& variables, const std::string& mark) {
  return std::ranges::find(variables, mark) != variables.end();
}

std::vector<pid_t> processes() {
  std::vector<pid_t> found;
  std::error_code failed;
  // Entries may vanish during the iteration; skipped processes are found in the next one.
  for (fs::directory_iterator entry("/proc", failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    const auto pid = pid_of(entry->path().filename().string());
    if (pid && *pid != getpid()) found.push_back(*pid);
  }
  return found;
}

}  // namespace

std::set<std::string> values_among(const std::string& mark, const std::string& variable) {
  std::set<std::string> values;
  const std::string start = variable + "=";
  for (const pid_t pid : processes()) {
    const auto variables = environment_of(pid);
    if (!has(variables, mark)) continue;
    for (const std::string& each : variables) {
      if (each.starts_with(start)) values.insert(each.substr(start.size()));
    }
  }
  return values;
}

int signal_marked(const std::string& mark, int number) {
  int signalled = 0;
  for (const pid_t pid : processes()) {
    // Open the process before reading its environment, so that its pid cannot be reused in between.
    const int held = pidfd_open(pid, 0);
    if (held < 0) continue;
    if (has(environment_of(pid), mark)) {
      signalled += pidfd_send_signal(held, number, nullptr, 0) == 0 ? 1 : 0;
    }
    close(held);
  }
  return signalled;
}

}  // namespace phi::distributed::supervise
