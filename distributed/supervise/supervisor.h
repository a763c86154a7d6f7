// Supervisor: starts a job of many processes, watches it, and starts it again when it fails, until
// it ends well, is told to stop, or fails where it failed before.
//
//   const std::string file = "runs/gpt/supervise.status";
//   const auto command = mpirun_command({}, 8, {"autophi", "run", "job.yaml", "--resume",
//                                               "--status_file=" + file});
//   Supervisor supervisor({.next = [&] { return Launch{command, 8}; }, .status_file = file});
//   const int status = supervisor.run();
//
// The command goes on from where it was by itself (autophi run --resume). What it prints goes where
// ours goes; its standard error passes through here, so that the table of attempts can say why each
// of them ended.
//
// Signals, while run() runs: SIGTERM, SIGINT and SIGUSR2 ask the job to end, which is then not
// started again, and a second one ends it at once; SIGUSR1 goes on to the job. If the supervisor
// dies, however, the command is told to end by the system.
//
// An attempt is over when its command ends. It is ended from here, with all of its processes on
// this machine, if
//   - a rank has ended, or said why it ends, and the command has not followed within `grace`
//     (mpirun waits for ever for a machine that has vanished), or
//   - the status file has named the same step for `stall`.
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
struct Launch {
  std::vector<std::string> command;
  int64_t ranks = 1;
  std::string mesh{};  // for the table
};

struct SupervisorOptions {
  using Milliseconds = std::chrono::milliseconds;

  /// What to start next; nothing: that which the job needs is not there now.
  std::function<std::optional<Launch>()> next{};
  std::string status_file{};  // of the job (StatusFile); empty: all that fails fails at the start

  int64_t restarts = 10;
  int64_t same_step = 3;  // failures at one step, after which it is given up
  /// An exit status that means: this cannot work. Given up at once, if no attempt came to a step.
  int refusal = 2;

  int stop_signal = 15;  // SIGTERM: ends the command in good order
  int save_signal = 10;  // SIGUSR1
  /// Ranks have it in their environment, each its own value.
  std::string rank_variable = kOpenMpiRank;

  Milliseconds grace = std::chrono::seconds(30);
  Milliseconds stall{0};                               // 0: any step may take for ever
  Milliseconds stop_limit = std::chrono::minutes(30);  // to end in good order; then it is killed
  Milliseconds wait = std::chrono::minutes(10);        // until `next` has something
  Milliseconds ask_again = std::chrono::seconds(5);
  Milliseconds first_pause = std::chrono::seconds(2);    // before a restart; doubled each time that
  Milliseconds longest_pause = std::chrono::minutes(1);  // the same step fails again
};

class Supervisor {
 public:
  explicit Supervisor(SupervisorOptions options) : options_(std::move(options)) {}

  /// Returns when the job is over, as shells count: 0 if it ended well; 128 and the signal's number
  /// if it was told to stop and did; else what the last attempt ended with. Not twice at a time in
  /// one process. Errors: those of `next`.
  int run();

  const std::vector<Attempt>& attempts() const { return attempts_; }

 private:
  std::optional<Launch> next_launch();
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
