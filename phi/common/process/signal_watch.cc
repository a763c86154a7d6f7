// Signal handlers that store the received signals.
#include "phi/common/process/signal_watch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace phi {
namespace {

static_assert(std::atomic<int>::is_always_lock_free);
constexpr std::array kWatched = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

std::atomic<int> stop_signal{0};
std::atomic<int> stop_count{0};
std::atomic<bool> obeys_second{true};
std::atomic<bool> save_asked{false};

// The number of watches in the process, and the handlers that the first one replaced.
struct Watches {
  std::mutex mutex;
  int count = 0;
  std::array<struct sigaction, kWatched.size()> before{};
};
Watches& watches() {
  static auto& instance = *new Watches;
  return instance;
}

void note(int signal) {
  if (signal == SIGUSR1) {
    save_asked = true;
    return;
  }
  stop_signal = signal;
  ++stop_count;
  if (!obeys_second) return;
  const auto* const at = std::find(kWatched.begin(), kWatched.end(), signal);
  const auto& before = watches().before[static_cast<size_t>(at - kWatched.begin())];
  // Ignored signals (shells ignore SIGINT for background processes) end the process too.
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) {
    std::signal(signal, SIG_DFL);
  } else {
    sigaction(signal, &before, nullptr);
  }
}

}  // namespace

SignalWatch::SignalWatch(Second second) {
  Watches& all = watches();
  const std::lock_guard lock(all.mutex);
  if (all.count++ > 0) return;
  stop_signal = 0;
  stop_count = 0;
  save_asked = false;
  obeys_second = second == Second::kObeyed;
  for (size_t i = 0; i < kWatched.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(kWatched[i], &action, &all.before[i]);
  }
}

SignalWatch::~SignalWatch() {
  Watches& all = watches();
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0) {
    for (size_t i = 0; i < kWatched.size(); ++i) sigaction(kWatched[i], &all.before[i], nullptr);
  }
}

int SignalWatch::stop() const { return stop_signal; }
int SignalWatch::stops() const { return stop_count; }
bool SignalWatch::take_save() { return save_asked.exchange(false); }

}  // namespace phi
