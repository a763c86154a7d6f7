// InFlight: the turns (pending collectives) of one rank that are queued on its GPU. Used by the
// rank's thread and by its watchdog.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "distributed/comm/nccl/turn.h"

namespace phi::distributed {

class InFlight {
 public:
  using Clock = std::chrono::steady_clock;

  void add(std::shared_ptr<Turn> turn);
  /// Removes the turns that are done. They complete in order, because all are on one stream.
  void retire();

  struct Late {
    std::shared_ptr<const Turn> turn;
    Clock::duration patience;  // the deadline that has passed
  };
  /// Returns the oldest unfinished turn if it has waited only for its peers and for longer than its
  /// deadline. The work before it does not count. A launch of a graph also computes, and it is not
  /// known whether it computes or communicates; its deadline is `deadline` plus four times the
  /// longest launch of the same graph, or ten times `deadline` until one launch has ended.
  std::optional<Late> late(Clock::duration deadline);

  /// Returns a description of the wait. Called from any thread, only when a report needs it.
  using What = std::function<std::string()>;
  /// Marks a time in which the rank's thread waits for NCCL to take in work. `what` must outlive
  /// this object.
  class Asking {
   public:
    Asking(InFlight& in_flight, const What& what);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    InFlight& in_flight_;
  };
  /// The description of the current wait if it has lasted for `patience`.
  std::optional<std::string> asks_in_vain(Clock::duration patience);

 private:
  std::shared_ptr<const Turn> oldest_under_way() const;

  std::mutex mutex_;
  std::deque<std::shared_ptr<Turn>> turns_;
  // The oldest turn at the last call of late(), and the time since which it has been ready. The
  // pointer keeps the object alive, so that its address cannot be reused by another turn.
  std::shared_ptr<const Turn> looked_at_;
  Clock::time_point since_{};
  const What* asked_ = nullptr;  // null: no wait
  Clock::time_point asked_since_{};
};

}  // namespace phi::distributed
