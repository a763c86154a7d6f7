// The loop of attempts.
#include "distributed/supervise/supervisor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "distributed/supervise/attempt_monitor.h"
#include "phi/common/errors.h"

namespace phi::distributed::supervise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr SupervisorOptions::Milliseconds kSupervisorTick{100};
void say(const std::string& line) { fmt::print(stderr, "autophi supervise: {}\n", line); }

// A closed standard error must not end the supervisor.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoreSigpipe() { std::signal(SIGPIPE, before_); }
  IgnoreSigpipe(const IgnoreSigpipe&) = delete;
  IgnoreSigpipe& operator=(const IgnoreSigpipe&) = delete;

 private:
  void (*before_)(int);
};

// Removes the step of an earlier attempt.
void forget_step(const std::string& status_file) {
  if (!status_file.empty()) unlink(status_file.c_str());
}

std::string place_of(const Attempt& attempt) {
  return attempt.step ? fmt::format("at step {}", *attempt.step) : "before its first step";
}

}  // namespace

int Supervisor::run() {
  const IgnoreSigpipe pipes;
  signals_.emplace(SignalWatch::Second::kNoted);
  while (true) {
    const auto launch = next_launch();
    if (signals_->stop() != 0) return stopped();
    if (!launch) {
      const int status = attempts_.empty() ? 1 : attempts_.back().status;
      return finish(status, "there are not enough machines, and waiting did not help");
    }
    forget_step(options_.status_file);
    attempts_.push_back(AttemptMonitor(*launch, options_, *signals_).run());
    const Attempt& attempt = attempts_.back();
    if (attempt.status == 0) return finish(0, "");
    if (signals_->stop() != 0) return stopped();
    failures_.note(attempt.step);
    const std::string why = why_not_again();
    if (!why.empty()) return finish(attempt.status, why);
    SupervisorOptions::Milliseconds time = options_.first_pause;
    for (int64_t i = 1; i < failures_.here() && time < options_.longest_pause; ++i) time *= 2;
    time = std::min(time, options_.longest_pause);
    say(fmt::format("attempt {} ended {}: {}; restart {} of {} in {:g} s", attempts_.size(),
                    place_of(attempt), attempt.why, attempts_.size(), options_.restarts,
                    std::chrono::duration<double>(time).count()));
    if (!pause(time)) return stopped();
  }
}

std::optional<JobLaunch> Supervisor::next_launch() {
  const auto late = Clock::now() + options_.wait;
  bool is_told = false;
  while (true) {
    auto launch = options_.next();
    if (launch || Clock::now() >= late) return launch;
    if (!is_told) say("not enough machines respond for the job; waiting for them");
    is_told = true;
    if (!pause(std::min(options_.retry_interval, options_.wait))) return std::nullopt;
  }
}

// The reason not to restart; empty: restart.
std::string Supervisor::why_not_again() const {
  const Attempt& last = attempts_.back();
  const bool none_has_worked =
      std::ranges::none_of(attempts_, [](const Attempt& each) { return each.step.has_value(); });
  if (none_has_worked && last.status == options_.refusal) return "the job was refused";
  if (failures_.here() >= options_.same_step) {
    return fmt::format("it failed {} times {}", failures_.here(), place_of(last));
  }
  if (static_cast<int64_t>(attempts_.size()) > options_.restarts) {
    return fmt::format("{} restart{} are used up", options_.restarts,
                       options_.restarts == 1 ? "" : "s");
  }
  return "";
}

// Returns false if a stop signal cut it short.
bool Supervisor::pause(SupervisorOptions::Milliseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end && signals_->stop() == 0) std::this_thread::sleep_for(kSupervisorTick);
  return signals_->stop() == 0;
}

int Supervisor::stopped() {
  const int signal = signals_->stop();
  const int last = attempts_.empty() ? 0 : attempts_.back().status;
  // The status of a failure, or of a job that had to be killed, is kept. Otherwise the job has
  // stopped as requested.
  const bool failed = (last != 0 && last < kSignalStatus) || last == kSignalStatus + SIGKILL;
  return finish(failed ? last : kSignalStatus + signal,
                fmt::format("stopped by signal {} ({})", signal, strsignal(signal)));
}

int Supervisor::finish(int status, const std::string& why) {
  if (!why.empty()) say(fmt::format("not started again: {}", why));
  if (attempts_.size() > 1 || (status != 0 && !attempts_.empty())) {
    fmt::print(stderr, "{}", table_of(attempts_));
  }
  signals_.reset();
  return status;
}

}  // namespace phi::distributed::supervise
