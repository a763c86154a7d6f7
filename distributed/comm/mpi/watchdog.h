// Watchdog: a thread of each rank that detects what the rank's own thread cannot while it is inside
// MPI: ranks that do not start, a call of MPI that does not return, and the death of another rank's
// process on this machine. It prints a report and ends the process, so that mpirun ends the job.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "distributed/comm/mpi/launcher_environment.h"
#include "distributed/comm/mpi/shared_rank_table.h"

namespace phi::distributed {

class Watchdog {
 public:
  /// Starts watching. `start_deadline` applies until on_all_started(). The rank table must outlive
  /// it.
  Watchdog(SharedRankTable& rank_table, const LauncherEnvironment& launch,
           std::chrono::milliseconds start_deadline);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Call it when all ranks have started.
  void on_all_started() { all_started_.store(true, std::memory_order_relaxed); }
  /// Limit of one call of MPI after on_all_started(). The watchdog ends the process a little later
  /// than this.
  void set_deadline(std::chrono::milliseconds deadline) {
    deadline_ms_.store(deadline.count(), std::memory_order_relaxed);
  }

  /// Run time of this process. It does not advance while the process or the machine is suspended,
  /// so a suspended and continued job is not late.
  std::chrono::milliseconds run_time() const {
    return std::chrono::milliseconds(run_time_ms_.load(std::memory_order_relaxed));
  }

  /// Marks the rank's thread as inside this call of MPI during its lifetime.
  class MpiCallScope {
   public:
    MpiCallScope(Watchdog& watchdog, const char* call) : watchdog_(watchdog) {
      const uint64_t before = watchdog_.entered_.load(std::memory_order_relaxed);
      watchdog_.entered_.store(before + 1, std::memory_order_relaxed);
      watchdog_.inside_.store(call, std::memory_order_relaxed);
    }
    ~MpiCallScope() { watchdog_.inside_.store(nullptr, std::memory_order_relaxed); }
    MpiCallScope(const MpiCallScope&) = delete;
    MpiCallScope& operator=(const MpiCallScope&) = delete;

   private:
    Watchdog& watchdog_;
  };

 private:
  void run();
  void look();
  std::chrono::milliseconds patience() const;
  void look_at_own_call();
  void watch_others();
  void look_at_others();
  void take_death(int64_t rank);
  void report(const std::string& head);
  [[noreturn]] void end_late_start();
  [[noreturn]] void end(const std::string& why);

  SharedRankTable& rank_table_;
  const LauncherEnvironment launch_;
  const std::chrono::milliseconds start_deadline_;
  std::atomic<bool> all_started_{false};
  std::atomic<int64_t> deadline_ms_;
  std::atomic<int64_t> run_time_ms_{0};
  std::atomic<uint64_t> entered_{0};
  std::atomic<const char*> inside_{nullptr};
  // State of the watchdog's thread.
  uint64_t entered_before_ = 0;
  std::chrono::milliseconds entered_at_{0};
  std::chrono::milliseconds death_seen_at_{-1};

  // A descriptor per other rank's process, readable when the process has ended. The first
  // descriptor tells the watchdog to stop.
  std::vector<pollfd> watched_;
  std::vector<int64_t> watched_ranks_;  // the ranks of these processes
  bool watches_others_ = false;

  std::thread thread_;
};

}  // namespace phi::distributed
