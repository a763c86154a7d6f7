// InFlight: the turns of one rank that are on its GPU, for the rank's thread and for its watchdog.
#pragma once

#include <chrono>
#include <deque>
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

  /// The oldest that waits for nothing but its peers, if it has for this long.
  std::shared_ptr<const Turn> late(Clock::duration patience);

  /// While it lives the rank's thread waits for NCCL to take in work.
  class Asking {
   public:
    Asking(InFlight& in_flight, std::string what);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    InFlight& in_flight_;
  };
  /// What it waits for, if it has for this long.
  std::optional<std::string> asks_in_vain(Clock::duration patience);

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<Turn>> turns_;
  Turn* looked_at_ = nullptr;  // the oldest when it was last looked at, which has been ready since
  Clock::time_point since_{};
  std::string asked_;  // empty: nothing
  Clock::time_point asked_since_{};
};

}  // namespace phi::distributed
