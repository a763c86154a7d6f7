// Attempts: the outcome of each start of a job, and failure counts that decide whether to restart.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace phi::distributed::supervise {

struct Attempt {
  std::chrono::system_clock::time_point started{};
  std::chrono::seconds took{0};
  int64_t ranks = 0;
  std::string mesh{};             // empty: the job's own mesh
  std::optional<int64_t> step{};  // the last step; nullopt: no step was reached
  int status = 0;                 // a shell status
  std::string why{};
};

/// A table with a row per attempt: start, duration, ranks, mesh, last step, and why it ended.
std::string table_of(std::span<const Attempt> attempts);

/// Counts failures by step. Failures at steps that later attempts have passed do not count.
class StepFailures {
 public:
  void note(const std::optional<int64_t>& step);
  /// The number of failures at the step of the last note().
  int64_t here() const { return counts_.empty() ? 0 : counts_.at(last_); }

 private:
  std::map<int64_t, int64_t> counts_{};  // 0: before the first step
  int64_t last_ = 0;
};

}  // namespace phi::distributed::supervise
