// SharedRankTable: a table shared by the ranks of one machine: which ranks have started, their
// processes, and their last calls. It is a file in /dev/shm that all of them map before MPI is
// initialised, so it can report which ranks are missing when MPI does not start.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "distributed/comm/mpi/launcher_environment.h"
#include "distributed/comm/report/flight_recorder.h"
#include "distributed/comm/report/hang_report.h"

namespace phi::distributed {

/// A rank's progress through the job.
enum class Phase : int32_t {
  kAbsent = 0,
  kStarting,
  kIn,
  kExiting,  // with a status that is not 0; it ends the job unless all ranks exit
  kLeaving,
  kLeft,
  kFailed,  // it has printed why and ends the job
};

class SharedRankTable {
 public:
  /// Opens the rank table of this job on this machine and registers this rank. If /dev/shm cannot
  /// be used, or `launch.job` is empty, the rank table is private and shows no other rank.
  static std::unique_ptr<SharedRankTable> open(const LauncherEnvironment& launch);
  ~SharedRankTable();
  SharedRankTable(const SharedRankTable&) = delete;
  SharedRankTable& operator=(const SharedRankTable&) = delete;

  /// Removes the file's name, so no other process can map it; existing mappings stay.
  void close();

  FlightRecorder& own_flight_recorder() { return own().flight_recorder; }
  void set_phase(Phase phase) { own().phase.store(phase, std::memory_order_release); }
  Phase phase_of(int64_t rank) const { return entry(rank).phase.load(std::memory_order_acquire); }
  int64_t pid_of(int64_t rank) const { return entry(rank).pid.load(); }
  /// Whether the rank's process has registered on this rank table.
  bool has_registered(int64_t rank) const;
  /// Whether the rank's process had registered and no longer exists.
  bool has_died(int64_t rank) const;
  /// Whether the rank has left the job in order, or is leaving it: it makes no more calls. False
  /// for a rank that exits with a status, which ends the job itself.
  bool has_left(int64_t rank) const;
  /// The rank's process and flight recorder, which is null for a rank that has not registered.
  RankStatus rank_status(int64_t rank) const;

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  /// A random number common to all ranks that share the rank table; 0: it is private.
  uint64_t token() const { return head().token.load(); }
  /// True for the first caller on this rank table: that rank prints the report, the others do not.
  bool is_first_to_report() { return head().reported.exchange(1) == 0; }
  bool is_first_to_fail() { return head().failed.exchange(1) == 0; }

 private:
  struct Head {
    std::atomic<uint64_t> token;
    std::atomic<int32_t> reported;
    std::atomic<int32_t> failed;
  };
  struct RankEntry {
    std::atomic<int64_t> pid;
    std::atomic<uint64_t> born;  // start time of the process, because pids are reused
    std::atomic<uint64_t> pid_space;
    std::atomic<Phase> phase;
    FlightRecorder flight_recorder;
  };

  SharedRankTable(int64_t rank, int64_t size) : rank_(rank), size_(size) {}
  size_t bytes() const { return sizeof(Head) + static_cast<size_t>(size_) * sizeof(RankEntry); }
  bool map_shared(const std::string& file);
  void map_private();
  void claim_entry();
  void remove_left_behind(const std::string& prefix) const;
  bool is_left_behind(int fd) const;
  static bool is_gone(const RankEntry& entry);
  Head& head() const { return *static_cast<Head*>(memory_); }
  RankEntry& entry(int64_t rank) const {
    return reinterpret_cast<RankEntry*>(static_cast<char*>(memory_) + sizeof(Head))[rank];
  }
  RankEntry& own() const { return entry(rank_); }

  int64_t rank_;
  int64_t size_;
  std::string file_;  // empty: no other process can open it
  void* memory_ = nullptr;
};

}  // namespace phi::distributed
