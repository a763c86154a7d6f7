// RankContext: everything that belongs to one rank and would otherwise be a global.
//
// A process under mpirun has one; the local backend (all ranks as threads of one process) gives
// each thread its own with RankContext::Scope. What else is global is the same for all ranks, or
// what a thread has found out for itself: tests/tools/mutable_globals.py lists it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phi/core/generator.h"
#include "phi/core/storage/memory_account.h"
#include "phi/core/storage/tier.h"

namespace phi {

/// What a rank has sent to others in one kind of collective.
struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
};

/// As many as distributed::CommOp names.
inline constexpr size_t kNumCollectives = 7;

/// What a rank has done so far; the report's columns.
struct Counters {
  int64_t ops_launched = 0;
  int64_t ops_clipped = 0;
  int64_t reshard_steps = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  std::array<Traffic, kNumCollectives> traffic{};  // by distributed::CommOp
};

/// kDry: tensors get no bytes, kernels are counted and not run (a dry run).
enum class Execution : uint8_t { kReal, kDry };

class Trace;
class Recorder;
class CallRecorder;
class MoveWatch;
class OutputWatch;

class RankContext {
 public:
  explicit RankContext(int64_t rank = 0, int64_t world_size = 1,
                       Execution execution = Execution::kReal)
      : rank_(rank), world_size_(world_size), execution_(execution), memory_(new MemoryAccount) {}

  int64_t rank() const { return rank_; }
  int64_t world_size() const { return world_size_; }
  /// This rank allocates and computes nothing.
  bool is_dry() const { return execution_ == Execution::kDry; }
  /// Where the rank computes: tensors that are not said to lie elsewhere lie there.
  const Place& place() const { return place_; }
  /// Its Device must be there. For a rank that has made no tensor yet.
  void set_place(const Place& place) {
    place_ = place;
    memory_->set_device(place.kind);
  }
  /// Products of float32 on a GPU may take their arguments as TF32, with 10 bits behind the point,
  /// which are multiplied several times as fast; false (the default): float32 is float32.
  bool tf32() const { return tf32_; }
  void set_tf32(bool tf32) { tf32_ = tf32; }
  /// Parts of deferred tensors stay deferred until they are used, so that what has no room on the
  /// device waits where it is (a captured program under limits takes it from there).
  bool keeps_deferred() const { return keeps_deferred_; }
  void set_keeps_deferred(bool keeps) { keeps_deferred_ = keeps; }
  /// Draws the seeds that random calls leave out. Ranks whose states differ cannot exchange
  /// messages: these are errors that name both.
  Generator& generator() { return generator_; }
  Counters& counters() { return counters_; }
  TransferStats& transfers() { return transfers_; }
  /// Data that the user gives waits on its tier until it is known where it is needed (the default),
  /// or crosses to the device at once and whole.
  bool deferred_transfer() const { return deferred_transfer_; }
  void set_deferred_transfer(bool deferred) { deferred_transfer_ = deferred; }
  const IntrusivePtr<MemoryAccount>& memory() const { return memory_; }
  /// Where the rank shows what it does; null (the default): nowhere.
  Trace* trace() const { return trace_; }
  /// The trace must live until another, or null, is given.
  void trace_to(Trace* trace) { trace_ = trace; }
  /// Is shown what every kernel that the rank launches writes; null (the default): nobody is.
  OutputWatch* output_watch() const { return output_watch_; }
  /// The watch must live until another, or null, is given.
  void watch_outputs(OutputWatch* watch) { output_watch_ = watch; }
  /// Takes what the rank would do, while it captures a program; null (the default): it does it.
  Recorder* recorder() const { return recorder_; }
  /// Only a dry rank may have one; it must live until another, or null, is given.
  void record_steps_to(Recorder* recorder) { recorder_ = recorder; }
  /// Is told of every call on handles (api/call/call_recorder.h), whether the rank captures a
  /// program or computes; null (the default): nobody is.
  CallRecorder* calls() const { return calls_; }
  /// It must live until another, or null, is given.
  void tell_of_calls(CallRecorder* calls) { calls_ = calls; }
  /// Is told of every reshard that the rank takes part in (distributed/reshard/move_watch.h); null
  /// (the default): nobody is.
  MoveWatch* moves() const { return moves_; }
  /// The watch must live until another, or null, is given.
  void watch_moves(MoveWatch* watch) { moves_ = watch; }

  /// The context of the calling thread: the innermost Scope's, else the process's own (rank 0 of
  /// 1).
  static RankContext& current() { return current_ ? *current_ : process_default(); }

  /// Makes `context` the calling thread's while it lives.
  class Scope {
   public:
    explicit Scope(RankContext& context) : outer_(current_) { current_ = &context; }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RankContext* outer_;
  };

 private:
  static RankContext& process_default();

  int64_t rank_;
  int64_t world_size_;
  Execution execution_;
  Place place_ = CPUPlace();
  bool tf32_ = false;
  bool keeps_deferred_ = false;
  Generator generator_;
  Counters counters_;
  TransferStats transfers_;
  bool deferred_transfer_ = true;
  Trace* trace_ = nullptr;
  Recorder* recorder_ = nullptr;
  CallRecorder* calls_ = nullptr;
  MoveWatch* moves_ = nullptr;
  OutputWatch* output_watch_ = nullptr;
  IntrusivePtr<MemoryAccount> memory_;
  static inline thread_local RankContext* current_ = nullptr;
};

/// Bytes of tensors that the calling rank holds on this kind of device.
inline MemoryStats memory_stats(const Place& place) {
  return RankContext::current().memory()->stats(place.kind);
}
/// Bytes that the calling rank keeps on a tier for tensors: on the host, arrays that the user gave
/// and that some tensor may still need to bring to the device.
inline MemoryStats memory_stats(Tier tier) { return RankContext::current().memory()->stats(tier); }
/// The peaks begin anew from what is held now.
inline void reset_memory_peak(const Place& place) {
  RankContext::current().memory()->reset_peak(place.kind);
}
inline void reset_memory_peak(Tier tier) { RankContext::current().memory()->reset_peak(tier); }

/// Whether data that the calling rank is given waits on its tier (the default) or crosses at once;
/// says so for what is given from now on.
inline void set_deferred_transfer(bool deferred) {
  RankContext::current().set_deferred_transfer(deferred);
}
inline bool deferred_transfer() { return RankContext::current().deferred_transfer(); }

/// Gives the memory that the calling rank keeps for later tensors back to the system.
inline void release_cached() { RankContext::current().memory()->blocks().release(); }

}  // namespace phi
