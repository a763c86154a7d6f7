// Supervisor: starts a job of many processes, watches it, and restarts it when it fails. It stops
// when the job ends well, is told to stop, or fails repeatedly at the same step.
//
//   const std::string file = "runs/gpt/supervise.status";
//   const auto command = mpirun_command({}, 8, {"autophi", "run", "job.yaml", "--resume",
//                                               "--status_file=" + file});
//   Supervisor supervisor({.next = [&] { return JobLaunch{command, 8}; }, .status_file = file});
//   const int status = supervisor.run();
//
// The command must resume by itself (autophi run --resume). Its output goes to this process's
// output. Its standard error passes through this process, so that the table of attempts can state
// why each attempt ended.
//
// Signals during run(): SIGTERM, SIGINT and SIGUSR2 ask the job to end, and it is not restarted; a
// second one ends it at once. SIGUSR1 is forwarded to the job. If the supervisor dies, the system
// sends the command its stop signal.
//
// An attempt is over when its command ends. The supervisor ends it, with all its processes on this
// machine, if
//
// - a rank has ended, or has printed why it ends, and the command has not ended within `grace`
//   (mpirun waits for ever for a machine that has vanished), or
// - the status file has named the same step for `stall`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "distributed/supervise/attempts.h"
#include "distributed/supervise/mpirun.h"
#include "phi/common/process/signal_watch.h"

namespace phi::distributed::supervise {

/// One start of the job.
struct JobLaunch {
  std::vector<std::string> command;
  int64_t ranks = 1;
  std::string mesh{};  // for the table of attempts
};

struct SupervisorOptions {
  using Milliseconds = std::chrono::milliseconds;

  /// Returns what to start next; nullopt: the job's resources are not available now.
  std::function<std::optional<JobLaunch>()> next{};
  std::string status_file{};  // the job's StatusFile; empty: all failures count as failures at the
                              // start

  int64_t restarts = 10;
  int64_t same_step = 3;  // number of failures at one step after which run() gives up
  /// Exit status of a command that can never succeed. run() gives up at once, if no attempt has
  /// reached a step.
  int refusal = 2;

  int stop_signal = 15;  // SIGTERM: ends the command in order
  int save_signal = 10;  // SIGUSR1
  /// A variable in the environment of ranks, with a different value in each.
  std::string rank_variable = kOpenMpiRank;

  Milliseconds grace = std::chrono::seconds(30);
  Milliseconds stall{0};                               // 0: a step may take any time
  Milliseconds stop_limit = std::chrono::minutes(30);  // for an orderly end, then it is killed
  Milliseconds wait = std::chrono::minutes(10);        // until `next` returns a launch
  Milliseconds retry_interval = std::chrono::seconds(5);
  Milliseconds first_pause = std::chrono::seconds(2);    // before a restart; doubled each time that
  Milliseconds longest_pause = std::chrono::minutes(1);  // the same step fails again
};

class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options) : options_(std::move(options)) {}

  /// Returns when the job is over, with a shell status: 0 if it ended well; 128 plus the signal's
  /// number if it was told to stop and did; otherwise the status of the last attempt. One call at a
  /// time per process. Errors: those of `next`.
  int run();

  const std::vector<Attempt>& attempts() const { return attempts_; }

 private:
  std::optional<JobLaunch> next_launch();
  std::string why_not_again() const;
  bool pause(SupervisorOptions::Milliseconds time);
  int finish(int status, const std::string& why);
  int stopped();

  SupervisorOptions options_;
  std::optional<SignalWatch> signals_;
  std::vector<Attempt> attempts_;
  StepFailures failures_;
};

}  // namespace phi::distributed::supervise
