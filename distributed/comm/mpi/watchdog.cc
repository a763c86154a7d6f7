// The watchdog's checks, twenty times a second.
#include "distributed/comm/mpi/watchdog.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <string_view>
#include <vector>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 50ms;
// The longest time between two polls that counts as run time; more means that the process was
// stopped.
constexpr auto kLongestLook = 1000ms;
// Grace period for others that are about to end the job: the first rank to report, or mpirun when a
// rank has died.
constexpr auto kGrace = 5000ms;

// Blocks all signals in the watchdog's thread, so that they reach the program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Bypasses stdio, whose locks another thread may hold for ever.
void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

double in_seconds(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

}  // namespace

Watchdog::Watchdog(SharedRankTable& rank_table, const LauncherEnvironment& launch,
                   std::chrono::milliseconds start_deadline)
    : rank_table_(rank_table),
      launch_(launch),
      start_deadline_(start_deadline),
      deadline_ms_(start_deadline.count()) {
  watched_.push_back({eventfd(0, EFD_CLOEXEC), POLLIN, 0});
  PHI_CHECK(watched_[0].fd >= 0,
            errors::ResourceExhausted("no descriptor for a rank's watchdog; see ulimit -n."));
  const BlockedSignals blocked;  // inherited by the new thread
  thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  const uint64_t stop = 1;
  if (write(watched_[0].fd, &stop, sizeof(stop)) != sizeof(stop)) std::terminate();
  thread_.join();
  for (const pollfd& watched : watched_) close(watched.fd);
}

void Watchdog::run() {
  auto before = std::chrono::steady_clock::now();
  while (true) {
    poll(watched_.data(), watched_.size(), kBetweenLooks.count());
    if (watched_[0].revents != 0) return;
    const auto now = std::chrono::steady_clock::now();
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - before);
    before += passed;
    run_time_ms_.fetch_add(std::min<std::chrono::milliseconds>(passed, kLongestLook).count(),
                           std::memory_order_relaxed);
    look();
  }
}

void Watchdog::look() {
  if (!all_started_.load(std::memory_order_relaxed) && run_time() >= start_deadline_)
    end_late_start();
  look_at_own_call();
  look_at_others();
}

// The rank's thread throws at the deadline if MPI returns, so the watchdog waits longer.
std::chrono::milliseconds Watchdog::patience() const {
  const std::chrono::milliseconds deadline(deadline_ms_.load(std::memory_order_relaxed));
  return rank_table_.phase_of(rank_table_.rank()) == Phase::kFailed
             ? std::chrono::milliseconds(kGrace)
             : deadline + deadline / 4 + 1s;
}

void Watchdog::look_at_own_call() {
  const char* call = inside_.load(std::memory_order_relaxed);
  const uint64_t entered = entered_.load(std::memory_order_relaxed);
  if (call == nullptr || entered != entered_before_) {
    entered_before_ = entered;
    entered_at_ = run_time();
    return;
  }
  if (!all_started_.load(std::memory_order_relaxed) || run_time() - entered_at_ < patience())
    return;
  end(fmt::format("{} has not returned for {:g} s.", call, in_seconds(run_time() - entered_at_)));
}

// Called once all ranks have started.
void Watchdog::watch_others() {
  watches_others_ = true;
  for (int64_t rank = 0; rank < rank_table_.size(); ++rank) {
    if (rank == rank_table_.rank() || !rank_table_.has_registered(rank)) continue;
    const auto pid = static_cast<pid_t>(rank_table_.pid_of(rank));
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) {  // it has ended, is in another pid namespace, or the kernel is too old
      if (rank_table_.has_died(rank)) take_death(rank);
      continue;
    }
    watched_.push_back({fd, POLLIN, 0});
    watched_ranks_.push_back(rank);
  }
}

void Watchdog::look_at_others() {
  if (!watches_others_ && all_started_.load(std::memory_order_relaxed)) watch_others();
  if (death_seen_at_ >= 0ms && run_time() - death_seen_at_ >= kGrace) {
    say(fmt::format(
        "rank {}: a rank has died, and the job has not been ended; this process exits.\n",
        rank_table_.rank()));
    _exit(1);
  }
  for (size_t i = 1; i < watched_.size(); ++i) {
    if (watched_[i].revents == 0) continue;
    close(watched_[i].fd);
    const int64_t rank = watched_ranks_[i - 1];
    watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(i));
    watched_ranks_.erase(watched_ranks_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    if (rank_table_.phase_of(rank) != Phase::kLeft) take_death(rank);
    return;  // the next one at the next poll
  }
}

// Reports at once, because mpirun is about to end this process too.
void Watchdog::take_death(int64_t rank) {
  if (death_seen_at_ < 0ms) death_seen_at_ = run_time();
  if (rank_table_.phase_of(rank) == Phase::kFailed || !rank_table_.is_first_to_report()) return;
  report(fmt::format("rank {}: rank {} has died.", rank_table_.rank(), rank));
}

void Watchdog::end_late_start() {
  if (!rank_table_.is_first_to_report()) {
    std::this_thread::sleep_for(kGrace);
    _exit(1);
  }
  std::vector<int64_t> come, missing;
  std::string lines;
  for (int64_t rank = 0; rank < rank_table_.size(); ++rank) {
    (rank_table_.has_registered(rank) ? come : missing).push_back(rank);
    const RankStatus status = rank_table_.rank_status(rank);
    if (status.flight_recorder)
      lines += fmt::format("\n  rank {}  has started ({})", rank, status.process);
  }
  const std::string elsewhere =
      launch_.is_on_one_machine()
          ? ""
          : fmt::format("; {} of {} ranks are on this machine", launch_.here, launch_.size);
  if (static_cast<int64_t>(come.size()) < launch_.here) {
    lines += fmt::format("\n  not started: {} of these ranks: {}",
                         launch_.here - static_cast<int64_t>(come.size()), fmt::join(missing, ","));
  }
  rank_table_.close();
  say(fmt::format("rank {}: not all ranks of the job have started within {:g} s{}.{}\n",
                  rank_table_.rank(), in_seconds(start_deadline_), elsewhere, lines));
  _exit(1);
}

void Watchdog::end(const std::string& why) {
  if (rank_table_.phase_of(rank_table_.rank()) == Phase::kFailed) _exit(1);
  if (!rank_table_.is_first_to_report()) {
    std::this_thread::sleep_for(kGrace);
    _exit(1);
  }
  report(fmt::format("rank {}: {}", rank_table_.rank(), why));
  _exit(1);
}

void Watchdog::report(const std::string& head) {
  const auto rank_status = [this](int64_t rank) { return rank_table_.rank_status(rank); };
  std::vector<int64_t> here;
  for (int64_t rank = 0; rank < rank_table_.size(); ++rank) {
    if (rank_table_.has_registered(rank)) here.push_back(rank);
  }
  say(ranks_report(head, here, rank_table_.rank(), rank_status) + "\n");
}

}  // namespace phi::distributed
