// fork and exec. Between the two, the child calls nothing that may wait for another thread's lock.
#include "distributed/supervise/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "phi/common/errors.h"

namespace phi::distributed::supervise {
namespace {

// A pipe with both ends close-on-exec.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() {
    PHI_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0,
              errors::Unavailable("cannot make a pipe: {}.", std::strerror(errno)));
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int take(int end) { return std::exchange(ends[end], -1); }
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::string& variable) {
  std::vector<std::string> all;
  const std::string name = variable.substr(0, variable.find('=') + 1);
  for (char** each = environ; *each != nullptr; ++each) {
    if (name.empty() || !std::string_view(*each).starts_with(name)) all.emplace_back(*each);
  }
  if (!variable.empty()) all.push_back(variable);
  return all;
}

// The arguments of the new process, allocated before fork, because the child must not allocate.
struct ExecArguments {
  std::vector<char*> argv;
  std::vector<char*> environment;
  pid_t parent;
  int on_parent_death;
  int input;
  int output;  // -1: the parent's
  int errors;  // -1: the parent's
  int report;  // receives errno if exec fails
};

[[noreturn]] void become(const ExecArguments& start) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  dup2(start.input, STDIN_FILENO);
  if (start.output >= 0) dup2(start.output, STDOUT_FILENO);
  if (start.errors >= 0) dup2(start.errors, STDERR_FILENO);
  if (start.on_parent_death != 0) {
    prctl(PR_SET_PDEATHSIG, start.on_parent_death);
    if (getppid() != start.parent) _exit(kSignalStatus);  // the parent has died already
  }
  execvpe(start.argv[0], start.argv.data(), start.environment.data());
  const int reason = errno;
  (void)!write(start.report, &reason, sizeof reason);
  _exit(kSignalStatus - 1);
}

}  // namespace

ChildProcess::ChildProcess(std::span<const std::string> command, const Options& options) {
  PHI_CHECK(!command.empty(), errors::InvalidArgument("there is no command to start."));
  std::vector<std::string> words(command.begin(), command.end());
  std::vector<std::string> environment = environment_with(options.variable);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  PHI_CHECK(nothing >= 0,
            errors::Unavailable("cannot open '/dev/null': {}.", std::strerror(errno)));
  Pipe error_pipe;
  Pipe report;
  const ExecArguments start{.argv = pointers_to(words),
                            .environment = pointers_to(environment),
                            .parent = getpid(),
                            .on_parent_death = options.on_parent_death,
                            .input = options.input >= 0 ? options.input : nothing,
                            .output = options.is_mute ? nothing : -1,
                            .errors = options.keeps_errors ? error_pipe.ends[1]
                                      : options.is_mute    ? nothing
                                                           : -1,
                            .report = report.ends[1]};
  pid_ = fork();
  if (pid_ == 0) become(start);
  const int fork_fault = errno;
  close(nothing);
  PHI_CHECK(pid_ > 0, errors::Unavailable("cannot start a process for '{}': {}.", command[0],
                                          std::strerror(fork_fault)));
  close(report.take(1));
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(report.ends[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof reason)) {
    waitpid(pid_, nullptr, 0);
    throw errors::NotFound("cannot start '{}': {}.", command[0], std::strerror(reason));
  }
  if (!options.keeps_errors) return;
  errors_ = error_pipe.take(0);
  fcntl(errors_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  if (!has_ended_) {
    signal_group(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (errors_ >= 0) close(errors_);
}

bool ChildProcess::poll() {
  if (!has_ended_) has_ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return has_ended_;
}

void ChildProcess::signal(int number) const {
  if (!has_ended_) kill(pid_, number);
}

void ChildProcess::signal_group(int number) const {
  if (!has_ended_) kill(-pid_, number);
}

std::string describe_exit(int status) {
  if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

int shell_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
}

}  // namespace phi::distributed::supervise
