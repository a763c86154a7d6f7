// Handlers that only note what has come.
#include "phi/common/signal_watch.h"

#include <atomic>

#include "phi/common/errors.h"

namespace phi {
namespace {

static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<bool> watching{false};
std::atomic<int> stop_signal{0};
std::atomic<bool> save_asked{false};

void note(int signal) {
  if (signal == SIGUSR1) {
    save_asked = true;
    return;
  }
  stop_signal = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

SignalWatch::SignalWatch() {
  PHI_CHECK(!watching.exchange(true),
            errors::PreconditionNotMet("signals are watched already; keep one SignalWatch."));
  stop_signal = 0;
  save_asked = false;
  for (size_t i = 0; i < kWatched.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kWatched[i], &action, &before_[i]);
  }
}

SignalWatch::~SignalWatch() {
  for (size_t i = 0; i < kWatched.size(); ++i) sigaction(kWatched[i], &before_[i], nullptr);
  watching = false;
}

int SignalWatch::stop() const { return stop_signal; }
bool SignalWatch::take_save() { return save_asked.exchange(false); }

}  // namespace phi
