// Transfers from start to end. The world polls them in every call, so transfers without a handle
// complete too.
#include "distributed/comm/transfer.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <tuple>
#include <utility>

#include "distributed/comm/hang_report.h"
#include "distributed/comm/traced_messages.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/process/interruption.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {

struct Transfer::State {
  World& world;
  CollectiveCall call;
  std::unique_ptr<Messages> messages;  // null: completed
  std::shared_ptr<const void> buffers;
  std::exception_ptr error = nullptr;
  bool told = false;                                       // whether the error has been reported
  std::unique_ptr<const TracedTransfer> traced = nullptr;  // until the transfer has been waited for
};

bool Transfer::done() const { return !state_ || !state_->messages || state_->world.test(*state_); }

void Transfer::wait() const {
  if (!state_) return;
  Trace* const trace = state_->traced ? state_->world.rank_context().trace() : nullptr;
  const TraceScope span(trace, TraceKind::kCall, "wait");
  if (span.event()) describe(state_->call, *trace, span.event());
  if (state_->messages) state_->world.wait_for(*state_);
  if (state_->error) {
    state_->told = true;
    std::rethrow_exception(state_->error);
  }
  if (trace) add_ends(state_->traced->recvs, TraceKind::kReceive, state_->call, *trace);
  state_->traced = nullptr;
}

std::unique_ptr<Messages> World::acquire_messages() {
  if (spare_.empty()) return new_messages();
  auto messages = std::move(spare_.back());
  spare_.pop_back();
  return messages;
}

void World::exchange_messages(const CollectiveCall& call, std::span<const Send> sends,
                              std::span<const Recv> recvs) {
  finish(call, post(call, sends, recvs));
}

std::unique_ptr<Messages> World::post(const CollectiveCall& call, std::span<const Send> sends,
                                      std::span<const Recv> recvs) {
  auto messages = acquire_messages();
  messages->post(call, sends, recvs);
  yield_point("world.exchange.posted");
  return messages;
}

void World::finish(const CollectiveCall& call, std::unique_ptr<Messages> messages) {
  wait_and_progress(call, *messages);
  spare_.push_back(std::move(messages));
}

// Other ranks may wait for this rank in calls of the device communicator, which must progress
// meanwhile.
void World::wait_and_progress(const CollectiveCall& call, Messages& messages) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kBetweenLooks = std::chrono::microseconds(20);
  const auto until = Clock::now() + deadline();
  while (device_communicator_ && device_communicator_->make_progress()) {
    poll_interruption();
    if (messages.done(call)) return;
    PHI_CHECK(Clock::now() < until,
              errors::ExecutionTimeout("{}", late_report(call, deadline(), [this](int64_t other) {
                                         return rank_status(other);
                                       })));
    std::this_thread::sleep_for(kBetweenLooks);
  }
  messages.wait(call);
}

Transfer World::start(const CollectiveCall& call, std::span<const Send> sends,
                      std::span<const Recv> recvs, std::shared_ptr<const void> buffers) {
  auto messages = acquire_messages();
  messages->post(call, sends, recvs);
  yield_point("world.start.posted");
  transfers_.push_back(std::make_shared<Transfer::State>(
      Transfer::State{*this, call, std::move(messages), std::move(buffers)}));
  if (const Trace* trace = context_->trace()) [[unlikely]] {
    transfers_.back()->traced = std::make_unique<const TracedTransfer>(
        TracedTransfer{arrows_from(rank(), call, sends), arrows_to(rank(), call, recvs),
                       trace->work(), Trace::now_ns()});
  }
  return Transfer(transfers_.back());
}

bool World::test(Transfer::State& transfer) noexcept {
  try {
    check_not_forked("a transfer");
    if (!transfer.messages->done(transfer.call)) return false;
    yield_point("world.test.done");
    end(transfer);
  } catch (...) {
    end_failed(transfer);
  }
  return true;
}

void World::wait_for(Transfer::State& transfer) {
  if (test(transfer)) return;
  yield_point("world.wait_for.not_done");
  note(transfer.call, CallState::kWaiting);
  try {
    wait_and_progress(transfer.call, *transfer.messages);
  } catch (...) {
    end_failed(transfer);
    return;
  }
  end(transfer);
}

void World::end(Transfer::State& transfer) {
  spare_.push_back(std::move(transfer.messages));
  note(transfer.call, CallState::kFinished);
  yield_point("world.end.over");
  transfer.buffers.reset();
  if (transfer.traced && context_->trace()) show_flight(transfer, *context_->trace());
}

void World::show_flight(const Transfer::State& transfer, Trace& trace) {
  const TracedTransfer& traced = *transfer.traced;
  TraceEvent* const event = trace.add(TraceKind::kInFlight, "");
  if (!event) return;
  describe(transfer.call, trace, event);
  describe(traced.sends, traced.recvs, event);
  event->work = traced.work;
  event->duration_ns = event->start_ns - traced.start_ns;
  event->start_ns = traced.start_ns;
}

void World::end_failed(Transfer::State& transfer) {
  transfer.error = std::current_exception();
  yield_point("world.end_failed");
  failed_.emplace_back(std::move(transfer.buffers), std::move(transfer.messages));
}

// Polls in turn, so that a transfer that waits for long does not hide the others.
void World::poll(size_t most) {
  for (size_t left = std::min(most, transfers_.size()); left > 0; --left) {
    if (next_polled_ >= transfers_.size()) next_polled_ = 0;
    const auto at = transfers_.begin() + static_cast<std::ptrdiff_t>(next_polled_);
    const bool over = !(*at)->messages || test(**at);
    const bool to_be_told = (*at)->error && !(*at)->told;
    if (!over || (to_be_told && at->use_count() > 1)) {
      ++next_polled_;
      continue;
    }
    const auto transfer = std::move(*at);
    transfers_.erase(at);
    if (to_be_told) std::rethrow_exception(transfer->error);
  }
}

size_t World::transfers_in_flight() {
  poll(transfers_.size());
  return transfers_.size() +
         (device_communicator_ ? device_communicator_->transfers_in_flight() : 0);
}

void World::drain() {
  if (device_communicator_) device_communicator_->drain();
  while (transfers_in_flight() > 0) Transfer(transfers_.front()).wait();
}

void World::abandon_transfers() noexcept {
  if (was_forked()) {
    // Freeing the messages would withdraw them from peers, which communicate with the parent.
    std::ignore = new auto(std::tuple(std::move(device_communicator_), std::move(transfers_),
                                      std::move(failed_), std::move(spare_)));
    return;
  }
  device_communicator_ = nullptr;  // first: it uses this world's messages until it is destroyed
  for (const auto& transfer : transfers_) {
    if (!transfer->messages) continue;
    yield_point("world.abandon");
    transfer->error = std::make_exception_ptr(
        errors::Unavailable("rank {} left the job before {} was done; wait for it first.", rank(),
                            transfer->call.to_string()));
    transfer->messages.reset();
    transfer->buffers.reset();
  }
  transfers_.clear();
  failed_.clear();
  spare_.clear();
}

}  // namespace phi::distributed
