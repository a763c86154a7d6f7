// Polls output every 100 ms, and processes every second.
#include "distributed/supervise/attempt_monitor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

#include "distributed/supervise/marked_processes.h"
#include "distributed/supervise/status_file.h"

namespace phi::distributed::supervise {
namespace {

constexpr std::chrono::milliseconds kWatchTick{100};
constexpr std::chrono::milliseconds kWatchInterval{1000};
// Time for the remaining processes to notice that their command has ended.
constexpr std::chrono::milliseconds kSweep{5000};

// A mark that no other start on this machine has, also before this process started.
std::string new_mark() {
  static std::atomic<int> number{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("AUTOPHI_SUPERVISED={}.{}.{}", getpid(), now, ++number);
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

}  // namespace

AttemptMonitor::AttemptMonitor(const JobLaunch& launch, const SupervisorOptions& options,
                               SignalWatch& signals)
    : options_(options),
      signals_(signals),
      mark_(new_mark()),
      child_(launch.command,
             {.on_parent_death = options.stop_signal, .variable = mark_, .keeps_errors = true}),
      errors_(child_.errors(), STDERR_FILENO) {
  attempt_.started = std::chrono::system_clock::now();
  attempt_.ranks = launch.ranks;
  attempt_.mesh = launch.mesh;
}

AttemptMonitor::~AttemptMonitor() { kill_all(); }

Attempt AttemptMonitor::run() {
  while (!child_.poll()) {
    errors_.pass_on();
    pass_signals_on();
    look_at_step();
    look_at_ranks();
    kill_when_late();
    std::this_thread::sleep_for(kWatchTick);
  }
  sweep();
  errors_.pass_on();
  look_at_step();
  attempt_.status = shell_status(child_.status());
  attempt_.took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
  attempt_.why = ended_because_.empty() ? describe_exit(child_.status()) : ended_because_;
  if (attempt_.status != 0 && !errors_.reason().empty()) attempt_.why += ": " + errors_.reason();
  // An attempt that was ended here has failed, whatever its status.
  if (!ended_because_.empty() && attempt_.status == 0) attempt_.status = 1;
  return attempt_;
}

void AttemptMonitor::pass_signals_on() {
  if (signals_.take_save()) child_.signal(options_.save_signal);
  if (signals_.stops() > 1) return kill_all();
  if (signals_.stop() == 0 || kill_at_) return;
  child_.signal(options_.stop_signal);
  kill_at_ = Clock::now() + options_.stop_limit;
}

void AttemptMonitor::look_at_step() {
  const auto step = read_status(options_.status_file);
  if (step != attempt_.step) {
    attempt_.step = step;
    step_since_ = Clock::now();
  }
  if (options_.stall.count() == 0 || Clock::now() < step_since_ + options_.stall) return;
  end(fmt::format("ended after {} without a new step", seconds_text(options_.stall)));
}

void AttemptMonitor::look_at_ranks() {
  if (Clock::now() < next_look_) return;
  next_look_ = Clock::now() + std::min(kWatchInterval, options_.grace);
  const std::set<std::string> here = values_among(mark_, options_.rank_variable);
  ranks_.insert(here.begin(), here.end());
  if (here.size() == ranks_.size() && !errors_.has_failed()) return failing_.reset();
  if (!failing_) failing_ = Clock::now();
  if (Clock::now() < *failing_ + options_.grace) return;
  end(fmt::format("a rank ended, and the command was still running {} later",
                  seconds_text(options_.grace)));
}

void AttemptMonitor::end(const std::string& why) {
  // An earlier time limit stays.
  if (!ended_because_.empty()) return;
  const auto kill_at = Clock::now() + options_.grace;
  if (kill_at_ && *kill_at_ < kill_at) return;
  ended_because_ = why;
  fmt::print(stderr, "autophi supervise: {}; ending it\n", why);
  child_.signal(SIGTERM);
  kill_at_ = kill_at;
}

void AttemptMonitor::kill_when_late() {
  if (!kill_at_ || Clock::now() < *kill_at_) return;
  if (ended_because_.empty()) {
    ended_because_ =
        fmt::format("killed, {} after the signal to stop", seconds_text(options_.stop_limit));
  }
  kill_all();
}

void AttemptMonitor::kill_all() {
  child_.signal_group(SIGKILL);
  signal_marked(mark_, SIGKILL);
}

void AttemptMonitor::sweep() {
  const auto late = Clock::now() + std::min(options_.grace, kSweep);
  while (signal_marked(mark_, 0) > 0) {
    errors_.pass_on();
    if (Clock::now() >= late || signals_.stops() > 1) signal_marked(mark_, SIGKILL);
    std::this_thread::sleep_for(kWatchTick);
  }
}

}  // namespace phi::distributed::supervise
