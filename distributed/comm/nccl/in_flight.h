// InFlight: the turns of one rank that are on its GPU, for the rank's thread and for its watchdog.
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
  /// Takes out those that are done. They end in order: one stream has them all.
  void retire();

  struct Late {
    std::shared_ptr<const Turn> turn;
    Clock::duration patience;  // that has come to its end
  };
  /// The oldest that waits for nothing but its peers, if it has for longer than a deadline.
  /// Launches of graphs compute as well, and nothing tells on which of both they are: they have the
  /// deadline and four times the longest launch of the same graph, ten deadlines until one has
  /// ended.
  std::optional<Late> late(Clock::duration deadline);

  /// Says what is waited for. It is asked from any thread, when the words are needed.
  using What = std::function<std::string()>;
  /// While it lives the rank's thread waits for NCCL to take in work. `what` outlives it.
  class Asking {
   public:
    Asking(InFlight& in_flight, const What& what);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    InFlight& in_flight_;
  };
  /// What it waits for, if it has for this long.
  std::optional<std::string> asks_in_vain(Clock::duration patience);

 private:
  std::shared_ptr<const Turn> oldest_under_way() const;

  std::mutex mutex_;
  std::deque<std::shared_ptr<Turn>> turns_;
  // The oldest when it was last looked at, which has been ready since; kept, so that no other is
  // taken for it.
  std::shared_ptr<const Turn> looked_at_;
  Clock::time_point since_{};
  const What* asked_ = nullptr;  // null: nothing
  Clock::time_point asked_since_{};
};

}  // namespace phi::distributed
