// The list of a rank's observers.
#include "phi/core/observers.h"

#include <algorithm>
#include <utility>

#include "phi/core/trace/trace.h"

namespace phi {

uint64_t Observers::add(Observer& observer) {
  Trace* const trace = observer.trace();
  registered_.push_back({newest_ + 1, trace == &observer ? nullptr : &observer, trace});
  ++newest_;
  update();
  return newest_;
}

void Observers::remove(uint64_t number) {
  std::erase_if(registered_, [&](const Registered& one) { return one.number == number; });
  update();
}

uint64_t Observers::suspend(uint64_t last) {
  const uint64_t before = std::exchange(suspended_, last);
  update();
  return before;
}

void Observers::update() {
  const auto any = [&](auto Registered::*receiver) {
    return std::ranges::any_of(registered_, [&](const Registered& one) {
      return one.number > suspended_ && one.*receiver != nullptr;
    });
  };
  any_events_ = any(&Registered::observer);
  any_traces_ = any(&Registered::trace);
}

template <typename F>
void Observers::each_registered(const Audience& audience, const F& f) const {
  for (uint64_t number = audience.after;;) {
    const auto next = std::ranges::upper_bound(registered_, number, {}, &Registered::number);
    if (next == registered_.end() || next->number > audience.last) return;
    number = next->number;
    f(Registered(*next));
  }
}

void Observers::each(const Audience& audience, const Function& f) const {
  each_registered(audience, [&](const Registered& one) {
    if (one.observer) f(*one.observer);
  });
}

void Observers::each_reversed(const Audience& audience, const Function& f) const {
  for (uint64_t number = audience.last;;) {
    auto next = std::ranges::upper_bound(registered_, number, {}, &Registered::number);
    if (next == registered_.begin() || (--next)->number <= audience.after) return;
    number = next->number - 1;
    if (next->observer) f(*next->observer);
  }
}

void Observers::each_trace(const Audience& audience, const std::function<void(Trace&)>& f) const {
  each_registered(audience, [&](const Registered& one) {
    if (one.trace) f(*one.trace);
  });
}

Observers::Audience Observers::begin_each(const Function& begin, const Function& end) const {
  Audience notified{suspended_, suspended_};
  try {
    each_registered(audience(), [&](const Registered& one) {
      if (one.observer) begin(*one.observer);
      notified.last = one.number;
    });
  } catch (...) {
    each_reversed(notified, end);
    throw;
  }
  return notified;
}

}  // namespace phi
