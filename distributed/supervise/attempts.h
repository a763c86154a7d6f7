// Attempts: what became of each start of a job, and whether one more makes sense.
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
  std::string mesh{};             // empty: as the job has it
  std::optional<int64_t> step{};  // that it was in when it ended; nothing: it did not come to one
  int status = 0;                 // as shells count
  std::string why{};
};

/// A row for each: when, how long, ranks, mesh, the step that it was in, and why it ended.
std::string table_of(std::span<const Attempt> attempts);

/// How often attempts failed at a step; those that have been passed since do not count.
class StepFailures {
 public:
  void note(const std::optional<int64_t>& step);
  /// At the step of the last note().
  int64_t here() const { return counts_.empty() ? 0 : counts_.at(last_); }

 private:
  std::map<int64_t, int64_t> counts_{};  // 0: before the first step
  int64_t last_ = 0;
};

}  // namespace phi::distributed::supervise
