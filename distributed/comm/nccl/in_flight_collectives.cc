// The collectives on the GPU, oldest first.
#include "distributed/comm/nccl/in_flight_collectives.h"

#include <algorithm>
#include <utility>

namespace phi::distributed {
namespace {

constexpr int kLongestLaunches = 4;
constexpr int kDeadlinesOfTheFirst = 10;

void note_time(const PendingCollective& collective) {
  if (!collective.graph) return;
  const auto time = collective.done.elapsed_since(collective.ready);
  collective.graph->longest = std::max(collective.graph->longest.value_or(time), time);
}

InFlightCollectives::Clock::duration patience_with(const PendingCollective& collective,
                                                   InFlightCollectives::Clock::duration deadline) {
  if (!collective.graph) return deadline;
  if (!collective.graph->longest) return kDeadlinesOfTheFirst * deadline;
  return deadline + std::chrono::duration_cast<InFlightCollectives::Clock::duration>(
                        kLongestLaunches * *collective.graph->longest);
}

}  // namespace

void InFlightCollectives::add(std::shared_ptr<PendingCollective> collective) {
  const std::lock_guard lock(mutex_);
  collectives_.push_back(std::move(collective));
}

void InFlightCollectives::retire() {
  const std::lock_guard lock(mutex_);
  while (!collectives_.empty() && collectives_.front()->done.has_occurred()) {
    note_time(*collectives_.front());
    collectives_.front()->state = PendingCollective::State::kDone;
    collectives_.pop_front();
  }
}

// Does not rely on retire(): the rank's thread, which calls it, may be waiting for its GPU.
std::shared_ptr<const PendingCollective> InFlightCollectives::oldest_under_way() const {
  for (const std::shared_ptr<PendingCollective>& collective : collectives_) {
    if (!collective->done.has_occurred())
      return collective->ready.has_occurred() ? collective : nullptr;
    note_time(*collective);
  }
  return nullptr;
}

std::optional<InFlightCollectives::OverdueCollective> InFlightCollectives::overdue(
    Clock::duration deadline) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const PendingCollective> oldest = oldest_under_way();
  if (oldest == nullptr || oldest != looked_at_) {
    looked_at_ = oldest;
    since_ = Clock::now();
  }
  if (oldest == nullptr) return std::nullopt;
  const Clock::duration patience = patience_with(*oldest, deadline);
  if (Clock::now() - since_ < patience) return std::nullopt;
  return OverdueCollective{oldest, patience};
}

InFlightCollectives::NcclWaitScope::NcclWaitScope(InFlightCollectives& in_flight,
                                                  const WaitDescription& what)
    : in_flight_(in_flight) {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.wait_ = &what;
  in_flight_.wait_since_ = Clock::now();
}

InFlightCollectives::NcclWaitScope::~NcclWaitScope() {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.wait_ = nullptr;
}

std::optional<std::string> InFlightCollectives::stalled_wait(Clock::duration patience) {
  const std::lock_guard lock(mutex_);
  if (wait_ == nullptr || Clock::now() - wait_since_ < patience) return std::nullopt;
  return (*wait_)();
}

}  // namespace phi::distributed
