// Handlers that only note what has come.
#include "phi/common/signal_watch.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "phi/common/errors.h"

namespace phi {
namespace {

static_assert(std::atomic<int>::is_always_lock_free);
constexpr std::array kWatched = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

std::atomic<int> stop_signal{0};
std::atomic<int> stop_count{0};
std::atomic<bool> obeys_second{true};
std::atomic<bool> save_asked{false};

// The watches of the process, and what signals meant before the first.
struct Watches {
  std::mutex mutex;
  int count = 0;
  std::array<struct sigaction, kWatched.size()> before{};
};
Watches& watches() {
  static auto& instance = *new Watches;
  return instance;
}

// A frame of the largest processors' registers is some 12 KB.
constexpr size_t kStackBytes = size_t{64} << 10;

std::unique_ptr<std::byte[]> give_handlers_a_stack() {
  stack_t now{};
  sigaltstack(nullptr, &now);
  if ((now.ss_flags & SS_DISABLE) == 0) return nullptr;
  std::unique_ptr<std::byte[]> memory(new std::byte[kStackBytes]);
  stack_t own{};
  own.ss_sp = memory.get();
  own.ss_size = kStackBytes;
  PHI_CHECK(sigaltstack(&own, nullptr) == 0,
            errors::Unavailable("signals cannot be handled on a stack of their own: {}.",
                                std::strerror(errno)));
  return memory;
}

void note(int signal) {
  if (signal == SIGUSR1) {
    save_asked = true;
    return;
  }
  stop_signal = signal;
  ++stop_count;
  if (obeys_second) std::signal(signal, SIG_DFL);
}

}  // namespace

SignalWatch::SignalWatch(Second second) : stack_(give_handlers_a_stack()) {
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
  if (!stack_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

int SignalWatch::stop() const { return stop_signal; }
int SignalWatch::stops() const { return stop_count; }
bool SignalWatch::take_save() { return save_asked.exchange(false); }

}  // namespace phi
