// Transfers from start to end. The communicator polls them in every call, so transfers without a
// handle complete too.
#include "distributed/comm/transfer.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "distributed/comm/report/traced_messages.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/trace/trace.h"

namespace phi::distributed {

struct Transfer::State {
  Communicator& communicator;
  CollectiveCall call;
  std::unique_ptr<Messages> messages;  // null: completed
  std::shared_ptr<const void> buffers;
  std::exception_ptr error = nullptr;
  bool told = false;  // whether the error has been reported
  // Until the transfer has been waited for; null: the rank had no observers at its start.
  std::unique_ptr<const ObservedTransfer> observed = nullptr;
};

bool Transfer::done() const {
  return !state_ || !state_->messages || state_->communicator.test(*state_);
}

void Transfer::wait() const {
  if (!state_) return;
  std::optional<TraceScope> span;
  if (state_->observed) {
    span.emplace(state_->communicator.rank_context(), TraceKind::kCall, "wait");
    span->fill([&](Trace& trace, TraceEvent& event) { describe(state_->call, trace, &event); });
  }
  if (state_->messages) state_->communicator.wait_for(*state_);
  if (!state_->error) state_->buffers.reset();
  if (state_->error) {
    state_->told = true;
    std::rethrow_exception(state_->error);
  }
  if (!span) return;
  span->fill([&](Trace& trace, TraceEvent&) {
    add_ends(state_->observed->recvs, TraceKind::kReceive, state_->call, trace);
  });
  state_->observed = nullptr;
}

Transfer Communicator::start(const CollectiveCall& call, std::span<const Send> sends,
                             std::span<const Recv> recvs, std::shared_ptr<const void> buffers) {
  auto messages = acquire_messages();
  messages->post(call, sends, recvs);
  yield_point("world.start.posted");
  transfers_.push_back(std::make_shared<Transfer::State>(
      Transfer::State{*this, call, std::move(messages), std::move(buffers)}));
  const Observers& observers = rank_context().observers();
  if (observers.any()) [[unlikely]] {
    ObservedTransfer observed{observers.audience(), {}, {}, rank_context().work(), Trace::now_ns()};
    if (observers.any_traces()) {
      observed.sends = arrows_from(rank(), call, sends);
      observed.recvs = arrows_to(rank(), call, recvs);
    }
    transfers_.back()->observed = std::make_unique<const ObservedTransfer>(std::move(observed));
  }
  return Transfer(transfers_.back());
}

bool Communicator::test(Transfer::State& transfer) noexcept {
  try {
    transport().check_not_forked("a transfer");
    if (!transfer.messages->done(transfer.call)) return false;
    yield_point("world.test.done");
    end(transfer);
  } catch (...) {
    end_failed(transfer);
  }
  return true;
}

void Communicator::wait_for(Transfer::State& transfer) {
  if (test(transfer)) return;
  yield_point("world.wait_for.not_done");
  transport().note(transfer.call, CallState::kWaiting);
  try {
    wait_for_messages(transfer.call, *transfer.messages);
  } catch (...) {
    end_failed(transfer);
    return;
  }
  end(transfer);
}

void Communicator::end(Transfer::State& transfer) {
  spare_.push_back(std::move(transfer.messages));
  transport().note(transfer.call, CallState::kFinished);
  yield_point("world.end.over");
  if (transfer.observed) [[unlikely]]
    report_arrival(transfer);
}

void Communicator::report_arrival(const Transfer::State& transfer) {
  const ObservedTransfer& observed = *transfer.observed;
  const Observers& observers = rank_context().observers();
  observers.each_trace(observed.audience, [&](Trace& trace) {
    TraceEvent* const event = trace.add(TraceKind::kInFlight, "");
    if (!event) return;
    describe(transfer.call, trace, event);
    describe(observed.sends, observed.recvs, event);
    event->work = observed.work;
    event->duration_ns = event->start_ns - observed.start_ns;
    event->start_ns = observed.start_ns;
  });
  observers.end(observed.audience, &Observer::on_transfer_end,
                TransferEnd{transfer.call, Trace::now_ns() - observed.start_ns});
}

void Communicator::end_failed(Transfer::State& transfer) {
  transfer.error = std::current_exception();
  yield_point("world.end_failed");
  failed_.emplace_back(std::move(transfer.buffers), std::move(transfer.messages));
}

// Polls in turn, so that a transfer that waits for long does not hide the others.
void Communicator::poll(size_t most) {
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

size_t Communicator::transfers_in_flight() {
  poll(transfers_.size());
  return transfers_.size();
}

void Communicator::drain() {
  while (transfers_in_flight() > 0) Transfer(transfers_.front()).wait();
}

void Communicator::abandon_transfers() noexcept {
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
