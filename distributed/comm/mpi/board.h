// Board: what the ranks of one machine see of each other: who has come, as which process, and its
// last calls. A file in /dev/shm that all of them map before MPI is begun, since it is there to say
// who is missing when MPI does not begin.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "distributed/comm/call_ring.h"
#include "distributed/comm/hang_report.h"
#include "distributed/comm/mpi/launcher.h"

namespace phi::distributed {

/// How far a rank is.
enum class Phase : int32_t {
  kAbsent = 0,
  kStarting,
  kIn,
  kLeaving,
  kLeft,
  kFailed,  // it said why and ends the job
};

class Board {
 public:
  /// The board of this job on this machine, with this rank's place taken. Where /dev/shm cannot be
  /// used, or there is no `launch`, it is this process's own and shows nobody else.
  static std::unique_ptr<Board> open(const Launch& launch);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// Takes the name away, under which nobody can come any more; those who have come keep it.
  void close();

  CallRing& own_ring() { return own().ring; }
  void set_phase(Phase phase) { own().phase.store(phase, std::memory_order_release); }
  Phase phase_of(int64_t rank) const { return place(rank).phase.load(std::memory_order_acquire); }
  int64_t pid_of(int64_t rank) const { return place(rank).pid.load(); }
  /// Its process has come to this board.
  bool has_come(int64_t rank) const;
  /// It had come, and its process is no more.
  bool has_died(int64_t rank) const;
  /// Of those that have come; of others a ring of null.
  SeenRank see(int64_t rank) const;

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  /// A random number that whoever shares the board shares; 0: nobody can.
  uint64_t token() const { return head().token.load(); }
  /// True for the first rank that asks: it prints, the others leave it to it.
  bool is_first_to_report() { return head().reported.exchange(1) == 0; }
  bool is_first_to_fail() { return head().failed.exchange(1) == 0; }

 private:
  struct Head {
    std::atomic<uint64_t> token;
    std::atomic<int32_t> reported;
    std::atomic<int32_t> failed;
  };
  struct Place {
    std::atomic<int64_t> pid;
    std::atomic<uint64_t> born;  // when the process began: pids come again
    std::atomic<uint64_t> pid_space;
    std::atomic<Phase> phase;
    CallRing ring;
  };

  Board(int64_t rank, int64_t size) : rank_(rank), size_(size) {}
  size_t bytes() const { return sizeof(Head) + static_cast<size_t>(size_) * sizeof(Place); }
  bool map_shared(const std::string& file);
  void map_private();
  void take_place();
  void remove_left_behind(const std::string& prefix) const;
  bool is_left_behind(int fd) const;
  static bool is_gone(const Place& place);
  Head& head() const { return *static_cast<Head*>(memory_); }
  Place& place(int64_t rank) const {
    return reinterpret_cast<Place*>(static_cast<char*>(memory_) + sizeof(Head))[rank];
  }
  Place& own() const { return place(rank_); }

  int64_t rank_;
  int64_t size_;
  std::string file_;  // empty: nobody can open it
  void* memory_ = nullptr;
};

}  // namespace phi::distributed
