// Observers: the registered observers of one rank. A producer notifies them of events if there are
// any_events(), so that without observers each event costs one test of a bool.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "phi/core/observer.h"

namespace phi {

/// Used by the thread of its rank only.
class Observers {
 public:
  /// Observers that were registered after number `after`, up to number `last`. Those that are
  /// notified of an event's begin are its audience.
  struct Audience {
    uint64_t after = 0;
    uint64_t last = 0;
  };

  /// Whether an observer receives events now; a Trace receives only spans.
  bool any_events() const { return any_events_; }
  /// Whether a trace receives spans now.
  bool any_traces() const { return any_traces_; }
  bool any() const { return any_events_ || any_traces_; }
  /// The observers that are notified now.
  Audience audience() const { return {suspended_, newest_}; }

  /// Notifies the audience in the order of registration.
  template <typename Event>
  void notify(const Audience& audience, void (Observer::*on)(const Event&),
              const Event& event) const {
    each(audience, [&](Observer& observer) { (observer.*on)(event); });
  }
  template <typename Event>
  void notify(void (Observer::*on)(const Event&), const Event& event) const {
    notify(audience(), on, event);
  }
  /// Notifies of an event that lasts, and returns the audience of its end. If an observer throws,
  /// those before it are notified of the end.
  template <typename Begin, typename End>
  Audience begin(void (Observer::*on_begin)(const Begin&), const Begin& begin,
                 void (Observer::*on_end)(const End&), const End& end) const {
    return begin_each([&](Observer& observer) { (observer.*on_begin)(begin); },
                      [&](Observer& observer) { (observer.*on_end)(end); });
  }
  /// Notifies the audience in the reverse order.
  template <typename End>
  void end(const Audience& audience, void (Observer::*on)(const End&), const End& event) const {
    each_reversed(audience, [&](Observer& observer) { (observer.*on)(event); });
  }
  /// Calls f for the trace of each observer that has one, in the order of registration.
  void each_trace(const Audience& audience, const std::function<void(Trace&)>& f) const;
  void each_trace(const std::function<void(Trace&)>& f) const { each_trace(audience(), f); }

 private:
  friend class ObserverScope;
  friend class SuspendObservers;
  using Function = std::function<void(Observer&)>;
  struct Registered {
    uint64_t number;     // from 1, in the order of registration
    Observer* observer;  // null: receives only spans
    Trace* trace;        // null: receives no spans
  };

  uint64_t add(Observer& observer);
  void remove(uint64_t number);
  /// Suspends those up to number `last`; returns the number before.
  uint64_t suspend(uint64_t last);
  void update();

  // An observer may add or remove others while it is notified.
  template <typename F>
  void each_registered(const Audience& audience, const F& f) const;
  void each(const Audience& audience, const Function& f) const;
  void each_reversed(const Audience& audience, const Function& f) const;
  Audience begin_each(const Function& begin, const Function& end) const;

  bool any_events_ = false;
  bool any_traces_ = false;
  uint64_t newest_ = 0;
  uint64_t suspended_ = 0;  // observers up to this number are suspended
  std::vector<Registered> registered_;
};

}  // namespace phi
