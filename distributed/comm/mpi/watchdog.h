// Watchdog: a thread of each rank that sees what the rank's own thread cannot tell because it is
// inside MPI: that not all ranks come when the job starts, that a call of MPI does not return, that
// the process of another rank of the machine has died. It says so and ends the process, so that
// mpirun ends the job.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "distributed/comm/mpi/board.h"
#include "distributed/comm/mpi/launcher.h"

namespace phi::distributed {

class Watchdog {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Watches from now on. `start_deadline`: until met(). The board must outlive it.
  Watchdog(Board& board, const Launch& launch, Milliseconds start_deadline);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// All ranks have come.
  void met() { has_met_.store(true, std::memory_order_relaxed); }
  /// How long one call of MPI may take from now on, once all have met; it ends a little later.
  void set_deadline(Milliseconds deadline) {
    deadline_ms_.store(deadline.count(), std::memory_order_relaxed);
  }

  /// Time of this process, which does not pass while it is stopped, nor the whole machine: a job
  /// that is suspended and continued is not late.
  Milliseconds awake() const { return Milliseconds(awake_ms_.load(std::memory_order_relaxed)); }

  /// While it lives the rank's thread is inside this call of MPI.
  class Inside {
   public:
    Inside(Watchdog& watchdog, const char* call) : watchdog_(watchdog) {
      const uint64_t before = watchdog_.entered_.load(std::memory_order_relaxed);
      watchdog_.entered_.store(before + 1, std::memory_order_relaxed);
      watchdog_.inside_.store(call, std::memory_order_relaxed);
    }
    ~Inside() { watchdog_.inside_.store(nullptr, std::memory_order_relaxed); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Watchdog& watchdog_;
  };

 private:
  void run();
  void look();
  Milliseconds patience() const;
  void look_at_own_call();
  void watch_others();
  void look_at_others();
  void tell_of_death(int64_t rank);
  void report(const std::string& head);
  [[noreturn]] void end_late_start();
  [[noreturn]] void end(const std::string& why);

  Board& board_;
  const Launch launch_;
  const Milliseconds start_deadline_;
  std::atomic<bool> has_met_{false};
  std::atomic<int64_t> deadline_ms_;
  std::atomic<int64_t> awake_ms_{0};
  std::atomic<uint64_t> entered_{0};
  std::atomic<const char*> inside_{nullptr};
  // What the watchdog's thread remembers.
  uint64_t entered_before_ = 0;
  Milliseconds entered_at_{0};
  Milliseconds death_seen_at_{-1};

  // Of each other rank's process a descriptor that is readable when it has ended; the first says
  // that the watchdog is to stop.
  std::vector<pollfd> watched_;
  std::vector<int64_t> watched_ranks_;  // of the others
  bool watches_others_ = false;

  std::thread thread_;
};

}  // namespace phi::distributed
