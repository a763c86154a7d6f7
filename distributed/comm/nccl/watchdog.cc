// The watchdog's checks, 50 times per second.
#include "distributed/comm/nccl/watchdog.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

#include "distributed/comm/nccl/timed_abort.h"
#include "distributed/comm/report/hang_report.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;

constexpr auto kWatchInterval = 20ms;

double in_seconds(std::chrono::duration<double> time) { return time.count(); }

}  // namespace

NcclWatchdog::NcclWatchdog(Watched watched) : watched_(std::move(watched)) {
  sigset_t all, before;
  sigfillset(&all);
  // Signals must be delivered to the program's threads, not to this one.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void NcclWatchdog::run(const std::stop_token& stop) {
  watched_.device.make_current();
  std::mutex nothing;
  std::unique_lock lock(nothing);
  std::condition_variable_any stopped;
  while (!stop.stop_requested() && !has_aborted_) {
    look();
    // Returns at once on a stop request.
    stopped.wait_for(lock, stop, kWatchInterval, [&stop] { return stop.stop_requested(); });
  }
}

void NcclWatchdog::look() {
  if (const std::string others = watched_.transport.failure(); !others.empty()) {
    return abort(errors::Unavailable("{}", others));
  }
  if (const std::string fault = watched_.comms.fault(); !fault.empty()) {
    return abort(errors::Unavailable("messages of rank {} between GPUs failed with {}.",
                                     watched_.transport.rank(), fault));
  }
  look_at_deadlines(watched_.transport.deadline());
}

void NcclWatchdog::look_at_deadlines(InFlightCollectives::Clock::duration deadline) {
  std::string why;
  if (const auto overdue = watched_.in_flight.overdue(deadline)) {
    why = ranks_report(
        fmt::format("Timed out after {:.3g} s in {}. All ranks have entered it, but their GPUs "
                    "have not: one of them waits for something else, or has failed.",
                    in_seconds(overdue->patience), overdue->collective->call.to_string()),
        overdue->collective->call.group->ranks(), watched_.transport.rank(),
        [&](int64_t other) { return watched_.transport.rank_status(other); });
  } else if (const auto asked = watched_.in_flight.stalled_wait(deadline)) {
    why = fmt::format("NCCL has not accepted {} within {:g} s on rank {}.", *asked,
                      in_seconds(deadline), watched_.transport.rank());
  } else {
    return;
  }
  abort(errors::ExecutionTimeout("{}", why));
}

void NcclWatchdog::abort(const Error& why) {
  if (has_aborted_) return;
  error_ = std::make_exception_ptr(why);
  watched_.device.set_failure(error_);
  has_aborted_ = true;
  // Graphs and communicators are ended concurrently. Graphs end when the rank's thread is in no
  // launch, which may wait for NCCL's work, and NCCL ends when the graphs have.
  run_with_timeout_or_exit(
      kAbortTimeout, fmt::format("rank {}: {}", watched_.transport.rank(), why.what()),
      [watched = &watched_, error = error_] {
        std::thread discards =
            thread_on_same_gpu([watched] { watched->captured_graphs.discard_all(); });
        watched->comms.abort(error);
        discards.join();
      });
}

void NcclWatchdog::check() const {
  if (has_aborted_) std::rethrow_exception(error_);
}

}  // namespace phi::distributed
