// The polled function, and the time of each thread's last poll.
#include "phi/common/process/interruption.h"

#include <atomic>
#include <cstdint>
#include <ctime>

namespace phi {
namespace {

using InterruptionHandler = void (*)();
std::atomic<InterruptionHandler> interruption_handler{nullptr};

constexpr int64_t kBetweenMs = 50;

// Reads the coarse clock, which the kernel advances at its ticks: it costs a few nanoseconds.
int64_t coarse_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

void set_interruption_handler(void (*handler)()) {
  interruption_handler.store(handler, std::memory_order_release);
}

void poll_interruption() {
  const InterruptionHandler handler = interruption_handler.load(std::memory_order_acquire);
  if (handler == nullptr) return;
  thread_local int64_t last_ms = 0;
  const int64_t now_ms = coarse_ms();
  if (now_ms - last_ms < kBetweenMs) return;
  last_ms = now_ms;
  handler();
}

}  // namespace phi
