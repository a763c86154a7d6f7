// Runs a subcommand of autophi within a test: what it prints, and its status.
#pragma once

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace phi::testing {

struct Printed {
  int status;
  std::string out;
  std::string err;
};

/// words[0] is the subcommand's name. Flags are as before when it returns.
inline Printed run_command(int (*command)(int, char**), std::vector<std::string> words) {
  const gflags::FlagSaver saver;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = command(static_cast<int>(argv.size()), argv.data());
  return {status, ::testing::internal::GetCapturedStdout(),
          ::testing::internal::GetCapturedStderr()};
}

}  // namespace phi::testing
