// The turns on the GPU, oldest first.
#include "distributed/comm/nccl/in_flight.h"

#include <algorithm>
#include <utility>

namespace phi::distributed {
namespace {

constexpr int kLongestLaunches = 4;
constexpr int kDeadlinesOfTheFirst = 10;

void note_time(const Turn& turn) {
  if (!turn.graph) return;
  const auto time = turn.done.since(turn.ready);
  turn.graph->longest = std::max(turn.graph->longest.value_or(time), time);
}

InFlight::Clock::duration patience_with(const Turn& turn, InFlight::Clock::duration deadline) {
  if (!turn.graph) return deadline;
  if (!turn.graph->longest) return kDeadlinesOfTheFirst * deadline;
  return deadline + std::chrono::duration_cast<InFlight::Clock::duration>(kLongestLaunches *
                                                                          *turn.graph->longest);
}

}  // namespace

void InFlight::add(std::shared_ptr<Turn> turn) {
  const std::lock_guard lock(mutex_);
  turns_.push_back(std::move(turn));
}

void InFlight::retire() {
  const std::lock_guard lock(mutex_);
  while (!turns_.empty() && turns_.front()->done.has_come()) {
    note_time(*turns_.front());
    turns_.front()->state = Turn::State::kOver;
    turns_.pop_front();
  }
}

// Does not rely on retire(): the rank's thread, which calls it, may be waiting for its GPU.
std::shared_ptr<const Turn> InFlight::oldest_under_way() const {
  for (const std::shared_ptr<Turn>& turn : turns_) {
    if (!turn->done.has_come()) return turn->ready.has_come() ? turn : nullptr;
    note_time(*turn);
  }
  return nullptr;
}

std::optional<InFlight::Late> InFlight::late(Clock::duration deadline) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const Turn> oldest = oldest_under_way();
  if (oldest == nullptr || oldest != looked_at_) {
    looked_at_ = oldest;
    since_ = Clock::now();
  }
  if (oldest == nullptr) return std::nullopt;
  const Clock::duration patience = patience_with(*oldest, deadline);
  if (Clock::now() - since_ < patience) return std::nullopt;
  return Late{oldest, patience};
}

InFlight::Asking::Asking(InFlight& in_flight, const What& what) : in_flight_(in_flight) {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.asked_ = &what;
  in_flight_.asked_since_ = Clock::now();
}

InFlight::Asking::~Asking() {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.asked_ = nullptr;
}

std::optional<std::string> InFlight::asks_in_vain(Clock::duration patience) {
  const std::lock_guard lock(mutex_);
  if (asked_ == nullptr || Clock::now() - asked_since_ < patience) return std::nullopt;
  return (*asked_)();
}

}  // namespace phi::distributed
