// InFlightCollectives: the pending collectives of one rank that are queued on its GPU. Used by the
// rank's thread and by its watchdog.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "distributed/comm/nccl/pending_collective.h"

namespace phi::distributed {

class InFlightCollectives {
 public:
  using Clock = std::chrono::steady_clock;

  void add(std::shared_ptr<PendingCollective> collective);
  /// Removes the collectives that are done. They complete in order, because all are on one stream.
  void retire();

  struct OverdueCollective {
    std::shared_ptr<const PendingCollective> collective;
    Clock::duration patience;  // the deadline that has passed
  };
  /// Returns the oldest unfinished collective if it has waited only for its peers and for longer
  /// than its deadline. The work before it does not count. A launch of a graph also computes, and
  /// it is not known whether it computes or communicates; its deadline is `deadline` plus four
  /// times the longest launch of the same graph, or ten times `deadline` until one launch has
  /// ended.
  std::optional<OverdueCollective> overdue(Clock::duration deadline);

  /// Returns a description of the wait. Called from any thread, only when a report needs it.
  using WaitDescription = std::function<std::string()>;
  /// Marks a time in which the rank's thread waits for NCCL to take in work. `what` must outlive
  /// this object.
  class NcclWaitScope {
   public:
    NcclWaitScope(InFlightCollectives& in_flight, const WaitDescription& what);
    ~NcclWaitScope();
    NcclWaitScope(const NcclWaitScope&) = delete;
    NcclWaitScope& operator=(const NcclWaitScope&) = delete;

   private:
    InFlightCollectives& in_flight_;
  };
  /// The description of the current wait if it has lasted for `patience`.
  std::optional<std::string> stalled_wait(Clock::duration patience);

 private:
  std::shared_ptr<const PendingCollective> oldest_under_way() const;

  std::mutex mutex_;
  std::deque<std::shared_ptr<PendingCollective>> collectives_;
  // The oldest collective at the last call of overdue(), and the time since which it has been
  // ready. The pointer keeps the object alive, so that its address cannot be reused by another
  // collective.
  std::shared_ptr<const PendingCollective> looked_at_;
  Clock::time_point since_{};
  const WaitDescription* wait_ = nullptr;  // null: no wait
  Clock::time_point wait_since_{};
};

}  // namespace phi::distributed
