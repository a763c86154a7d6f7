// What the watchdog looks at, fifty times a second.
#include "distributed/comm/nccl/watchdog.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 20ms;
// How long NCCL may take to end its work.
constexpr auto kAbortPatience = 5s;

double in_seconds(World::Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

NcclWatchdog::NcclWatchdog(Watched watched) : watched_(std::move(watched)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

NcclWatchdog::~NcclWatchdog() {
  stops_ = true;
  thread_.join();
}

void NcclWatchdog::run() {
  watched_.device.make_current();
  while (!stops_ && !has_aborted_) {
    look();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void NcclWatchdog::look() {
  if (const std::string others = watched_.failure_of_others(); !others.empty()) {
    return abort(errors::Unavailable("{}", others));
  }
  if (const std::string fault = watched_.comms.fault(); !fault.empty()) {
    return abort(errors::Unavailable("messages of rank {} between GPUs failed with {}.",
                                     watched_.host.rank(), fault));
  }
  look_at_deadlines(watched_.host.deadline());
}

void NcclWatchdog::look_at_deadlines(InFlight::Clock::duration patience) {
  std::string why;
  if (const auto late = watched_.in_flight.late(patience)) {
    why = ranks_report(
        fmt::format("No answer within {:g} s in {}. All ranks have come to it, and their GPUs do "
                    "not: one of them waits for something else, or has failed.",
                    in_seconds(watched_.host.deadline()), late->call.to_string()),
        late->call.group->ranks(), watched_.host.rank(), watched_.see);
  } else if (const auto asked = watched_.in_flight.asks_in_vain(patience)) {
    why = fmt::format("NCCL has not taken in {} within {:g} s on rank {}.", *asked,
                      in_seconds(watched_.host.deadline()), watched_.host.rank());
  } else {
    return;
  }
  abort(errors::ExecutionTimeout("{}", why));
}

// NCCL is asked in a thread of its own, which may never come back.
void NcclWatchdog::abort(const Error& why) {
  if (has_aborted_) return;
  error_ = std::make_exception_ptr(why);
  watched_.device.set_failure(error_);
  has_aborted_ = true;
  auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  std::thread([watched = &watched_, error = error_, ended] {
    watched->device.make_current();
    watched->records.discard_all();
    watched->comms.abort(error);
    ended->set_value();
  }).detach();
  if (end.wait_for(kAbortPatience) == std::future_status::ready) return;
  fmt::print(stderr, "rank {}: {}\nNCCL does not end its work; the process ends here.\n",
             watched_.host.rank(), why.what());
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

void NcclWatchdog::check() const {
  if (has_aborted_) std::rethrow_exception(error_);
}

}  // namespace phi::distributed
