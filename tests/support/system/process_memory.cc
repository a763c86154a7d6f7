// /proc/self/status, and children that report through a pipe.
#include "support/system/process_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <string>

namespace phi::testing {
namespace {

// "VmHWM:     1928 kB"
int64_t bytes_in_status(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + key);
}

[[noreturn]] void run_child(const std::function<void()>& work, int out) {
  const int64_t before = bytes_in_status("VmRSS");
  try {
    work();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  const int64_t growth = bytes_in_status("VmHWM") - before;
  const bool told = write(out, &growth, sizeof growth) == sizeof growth;
  std::fflush(nullptr);
  _exit(told && !::testing::Test::HasFailure() ? 0 : 1);
}

}  // namespace

int64_t resident_growth(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) run_child(work, ends[1]);
  close(ends[1]);
  int64_t growth = 0;
  const bool told = read(ends[0], &growth, sizeof growth) == sizeof growth;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(told && status == 0) << "the child process ended with wait status " << status;
  return growth;
}

}  // namespace phi::testing
