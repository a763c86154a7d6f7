// The table of attempts, and failure counts by step.
#include "distributed/supervise/attempts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace phi::distributed::supervise {
namespace {

std::string clock_text(std::chrono::seconds took) {
  const int64_t s = took.count();
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

std::string table_of(std::span<const Attempt> attempts) {
  constexpr const char* kRow = "{:<8} {:<20} {:>9} {:>6}  {:<20} {:>9}  {}\n";
  std::string out =
      fmt::format(kRow, "attempt", "started", "took", "ranks", "mesh", "step", "why it ended");
  int64_t number = 0;
  for (const Attempt& each : attempts) {
    const auto started = fmt::format(
        "{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(each.started)));
    out += fmt::format(kRow, ++number, started, clock_text(each.took), each.ranks,
                       each.mesh.empty() ? "of the job" : each.mesh,
                       each.step ? std::to_string(*each.step) : "start", each.why);
  }
  return out;
}

void StepFailures::note(const std::optional<int64_t>& step) {
  last_ = step.value_or(0);
  counts_.erase(counts_.begin(), counts_.lower_bound(last_));
  ++counts_[last_];
}

}  // namespace phi::distributed::supervise
