// What is on the GPU, oldest first.
#include "distributed/comm/nccl/in_flight.h"

#include <utility>

namespace phi::distributed {

void InFlight::add(std::shared_ptr<Turn> turn) {
  const std::lock_guard lock(mutex_);
  turns_.push_back(std::move(turn));
}

void InFlight::retire() {
  const std::lock_guard lock(mutex_);
  while (!turns_.empty() && turns_.front()->done.has_come()) {
    turns_.front()->state = Turn::State::kOver;
    turns_.pop_front();
  }
}

std::shared_ptr<const Turn> InFlight::late(Clock::duration patience) {
  const std::lock_guard lock(mutex_);
  const auto oldest = [&] {
    return turns_.empty() || turns_.front()->done.has_come() || !turns_.front()->ready.has_come()
               ? nullptr
               : turns_.front().get();
  }();
  if (oldest == nullptr || oldest != looked_at_) {
    looked_at_ = oldest;
    since_ = Clock::now();
  }
  return oldest && Clock::now() - since_ >= patience ? turns_.front() : nullptr;
}

InFlight::Asking::Asking(InFlight& in_flight, std::string what) : in_flight_(in_flight) {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.asked_ = std::move(what);
  in_flight_.asked_since_ = Clock::now();
}

InFlight::Asking::~Asking() {
  const std::lock_guard lock(in_flight_.mutex_);
  in_flight_.asked_.clear();
}

std::optional<std::string> InFlight::asks_in_vain(Clock::duration patience) {
  const std::lock_guard lock(mutex_);
  if (asked_.empty() || Clock::now() - asked_since_ < patience) return std::nullopt;
  return asked_;
}

}  // namespace phi::distributed
