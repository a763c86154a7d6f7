// ChildProcess: a command with its descendants, in a session of its own.
//
//   const std::vector<std::string> command = {"mpirun", "-n", "8", "autophi", "run", "job.yaml"};
//   ChildProcess child(command, {.on_parent_death = SIGTERM});
//   while (!child.poll()) work();
//   fmt::print("{}\n", describe_exit(child.status()));          // "exit status 1"
//
// Terminal keys, including Ctrl-C, go to the parent only: its standard input is empty, or a pipe.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace phi::distributed::supervise {

class ChildProcess {
 public:
  struct Options {
    /// The signal that it gets when the thread that started it ends; 0: none.
    int on_parent_death = 0;
    /// An additional environment variable for it and its descendants: "NAME=value".
    std::string variable{};
    /// Makes its standard error readable from errors(); otherwise it goes to the parent's.
    bool keeps_errors = false;
    int input = -1;        // the descriptor that it reads as standard input; -1: empty
    bool is_mute = false;  // drops its output, except for kept errors
  };

  /// Errors: InvalidArgument for an empty command; NotFound with the system's reason if it cannot
  /// be started.
  ChildProcess(std::span<const std::string> command, const Options& options);
  /// Kills the remaining processes of the session.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Whether it has ended. Does not wait.
  bool poll();
  /// The status as wait() of the system returns it; valid once poll() has returned true.
  int status() const { return status_; }
  /// Sends a signal to the command itself. Does nothing once it has ended.
  void signal(int number) const;
  /// Sends a signal to its process group, including the command.
  void signal_group(int number) const;

  pid_t pid() const { return pid_; }
  /// A non-blocking descriptor; -1 without keeps_errors.
  int errors() const { return errors_; }

 private:
  pid_t pid_ = -1;
  int errors_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

/// "exit status 1", "killed by signal 9 (Killed)".
std::string describe_exit(int status);
/// Shells add this to the number of the signal that ended a command.
inline constexpr int kSignalStatus = 128;
/// The status that shells report: the exit status, or kSignalStatus plus the signal's number.
int shell_status(int status);

}  // namespace phi::distributed::supervise
