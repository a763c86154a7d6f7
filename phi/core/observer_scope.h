// Registers observers with a rank, and suspends them.
#pragma once

#include "phi/core/rank_context.h"

namespace phi {

/// Registers an observer with a rank for its lifetime. The observer and the rank must outlive it.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer, RankContext& rank = RankContext::current())
      : observers_(rank.observers()), number_(observers_.add(observer)) {}
  ~ObserverScope() { observers_.remove(number_); }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observers& observers_;
  const uint64_t number_;
};

/// For its lifetime, what the rank does is not reported to the observers that are registered, nor
/// counted: for calls and messages of observers. Events that began before it still end.
class SuspendObservers {
 public:
  explicit SuspendObservers(RankContext& rank = RankContext::current())
      : rank_(rank),
        outer_(rank.observers().suspend(rank.observers().audience().last)),
        counters_(rank.counters()) {}
  ~SuspendObservers() {
    rank_.observers().suspend(outer_);
    rank_.counters() = counters_;
  }
  SuspendObservers(const SuspendObservers&) = delete;
  SuspendObservers& operator=(const SuspendObservers&) = delete;

 private:
  RankContext& rank_;
  const uint64_t outer_;
  const Counters counters_;
};

}  // namespace phi
