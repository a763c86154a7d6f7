// Child: a command that was started, with what it started in turn, in a session of its own.
//
//   const std::vector<std::string> command = {"mpirun", "-n", "8", "autophi", "run", "job.yaml"};
//   Child child(command, {.on_parent_death = SIGTERM});
//   while (!child.poll()) work();
//   fmt::print("{}\n", how_it_ended(child.status()));          // "exit status 1"
//
// Its input is empty: keys of a terminal, Ctrl-C too, go to the parent alone.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace phi::distributed::supervise {

class Child {
 public:
  struct Options {
    /// The signal that it gets when the thread that starts it ends; 0: none.
    int on_parent_death = 0;
    /// One more variable of its environment, and of the processes that it starts: "NAME=value".
    std::string variable{};
    /// What it writes to standard error can be read from errors(); else it goes where the parent's
    /// goes.
    bool keeps_errors = false;
    bool is_mute = false;  // what it writes is dropped, apart from errors that are kept
  };

  /// Errors: InvalidArgument for no words; NotFound with the system's reason if it does not start.
  Child(std::span<const std::string> command, const Options& options);
  /// Kills what is left of the session.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// It has ended. Does not wait.
  bool poll();
  /// As wait() of the system gives it; once poll() has said true.
  int status() const { return status_; }
  /// To the command itself. Nothing once it has ended.
  void signal(int number) const;
  /// To all of its process group, the command included.
  void signal_group(int number) const;

  pid_t pid() const { return pid_; }
  /// Does not block; -1 without keeps_errors.
  int errors() const { return errors_; }

 private:
  pid_t pid_ = -1;
  int errors_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

/// "exit status 1", "killed by signal 9 (Killed)".
std::string how_it_ended(int status);
/// What shells add to the number of the signal that ended a command.
inline constexpr int kSignalStatus = 128;
/// As shells count: the exit status, or kSignalStatus plus the number of the signal.
int shell_status(int status);

}  // namespace phi::distributed::supervise
