// AttemptMonitor: runs one attempt, from its start until none of its processes is left on this
// machine.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "distributed/supervise/attempts.h"
#include "distributed/supervise/child_process.h"
#include "distributed/supervise/error_stream.h"
#include "distributed/supervise/supervisor.h"

namespace phi::distributed::supervise {

class AttemptMonitor {
 public:
  /// Starts the command. Errors: NotFound if it cannot be started.
  AttemptMonitor(const JobLaunch& launch, const SupervisorOptions& options, SignalWatch& signals);
  /// Kills the processes that are left.
  ~AttemptMonitor();
  AttemptMonitor(const AttemptMonitor&) = delete;
  AttemptMonitor& operator=(const AttemptMonitor&) = delete;

  Attempt run();

 private:
  using Clock = std::chrono::steady_clock;

  void pass_signals_on();
  void look_at_ranks();
  void look_at_step();
  void end(const std::string& why);
  void kill_when_late();
  void kill_all();
  void sweep();

  const SupervisorOptions& options_;
  SignalWatch& signals_;
  const std::string mark_;
  Attempt attempt_;
  const Clock::time_point started_ = Clock::now();
  ChildProcess child_;
  ErrorStream errors_;
  std::set<std::string> ranks_{};                // ranks that have been seen
  std::optional<Clock::time_point> failing_{};   // since when a rank has been missing
  Clock::time_point step_since_ = Clock::now();  // when attempt_.step last changed
  Clock::time_point next_look_ = Clock::now();
  std::optional<Clock::time_point> kill_at_{};  // set when it has been asked to end
  std::string ended_because_{};                 // if this supervisor ended it
};

}  // namespace phi::distributed::supervise
