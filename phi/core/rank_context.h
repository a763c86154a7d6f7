// RankContext: all state that belongs to one rank. It takes the place of global variables.
//
// A process under mpirun has one. With the local backend, where ranks are threads of one process,
// each thread sets its own by RankContext::Scope. Other global state is the same for all ranks or
// belongs to one thread; tests/tools/mutable_globals.py lists it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phi/core/generator.h"
#include "phi/core/observers.h"
#include "phi/core/storage/memory_account.h"
#include "phi/core/storage/tier.h"

namespace phi {

/// Messages and bytes that a rank has sent in one kind of collective.
struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
};

/// Number of values of distributed::CommOp.
inline constexpr size_t kNumCollectives = 7;

/// Counts of a rank's work so far; the columns of a job's report.
struct Counters {
  int64_t ops_launched = 0;
  int64_t ops_clipped = 0;
  int64_t reshard_steps = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  std::array<Traffic, kNumCollectives> traffic{};  // by distributed::CommOp
};

/// kDry: a dry run: tensors have no bytes, and kernels are counted and do not run.
enum class Execution : uint8_t { kReal, kDry };

/// The part of a job that a rank works on. -1: none.
struct RankWork {
  int32_t step = -1;
  int32_t micro_batch = -1;
  int32_t chunk = -1;  // pipeline chunk, counted from the start of the model
};

class Recorder;

class RankContext {
 public:
  explicit RankContext(int64_t rank = 0, int64_t world_size = 1,
                       Execution execution = Execution::kReal)
      : rank_(rank), world_size_(world_size), execution_(execution), memory_(new MemoryAccount) {}

  int64_t rank() const { return rank_; }
  int64_t world_size() const { return world_size_; }
  /// Whether this rank allocates and computes nothing.
  bool is_dry() const { return execution_ == Execution::kDry; }
  /// The place on which the rank computes, and the default place of tensors.
  const Place& place() const { return place_; }
  /// Sets the place. Its Device must exist, and the rank must not have made a tensor yet.
  void set_place(const Place& place) {
    place_ = place;
    memory_->set_device(place.kind);
  }
  /// Whether float32 matmuls on a GPU may round their inputs to TF32 (10 mantissa bits), which is
  /// several times as fast. Default: false.
  bool tf32() const { return tf32_; }
  void set_tf32(bool tf32) { tf32_ = tf32; }
  /// Whether shards of deferred tensors stay deferred until they are used, so that values that do
  /// not fit on the device stay on their tier. A captured program with memory limits reads them
  /// there.
  bool keeps_deferred() const { return keeps_deferred_; }
  void set_keeps_deferred(bool keeps) { keeps_deferred_ = keeps; }
  /// Draws seeds for random calls without an explicit seed. A message between ranks whose
  /// generators differ is an error that names both states.
  Generator& generator() { return generator_; }
  Counters& counters() { return counters_; }
  TransferStats& transfers() { return transfers_; }
  /// True (the default): user data stays on its tier until its placement is known. False: user data
  /// is transferred to the device at once and whole.
  bool deferred_transfer() const { return deferred_transfer_; }
  void set_deferred_transfer(bool deferred) { deferred_transfer_ = deferred; }
  const IntrusivePtr<MemoryAccount>& memory() const { return memory_; }
  /// The rank's observers. ObserverScope (observer_scope.h) registers one.
  Observers& observers() { return observers_; }
  const Observers& observers() const { return observers_; }
  /// Receives the rank's steps while it captures a program; null (the default): no capture. Only a
  /// dry rank may have one. The caller keeps it alive until it sets another one, or null.
  Recorder* recorder() const { return recorder_; }
  void record_steps_to(Recorder* recorder) { recorder_ = recorder; }
  /// What the rank works on, for observers and messages.
  const RankWork& work() const { return work_; }
  void set_work(const RankWork& work) { work_ = work; }
  /// The innermost action of a training step that the rank is in, for example "backward"; null:
  /// none.
  const char* action() const { return action_; }
  void set_action(const char* action) { action_ = action; }

  /// The context of the calling thread: that of the innermost Scope, otherwise the process's
  /// default (rank 0 of 1).
  static RankContext& current() { return current_ ? *current_ : process_default(); }

  /// Sets the calling thread's context for the lifetime of this object.
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
  Observers observers_;
  Recorder* recorder_ = nullptr;
  RankWork work_;
  const char* action_ = nullptr;
  IntrusivePtr<MemoryAccount> memory_;
  static inline thread_local RankContext* current_ = nullptr;
};

/// Sets the micro-batch and chunk of the rank's work for the lifetime of this object.
class RankWorkScope {
 public:
  RankWorkScope(RankContext& rank, int64_t micro_batch, int chunk)
      : rank_(rank), outer_(rank.work()) {
    rank.set_work({outer_.step, static_cast<int32_t>(micro_batch), chunk});
  }
  ~RankWorkScope() { rank_.set_work(outer_); }
  RankWorkScope(const RankWorkScope&) = delete;
  RankWorkScope& operator=(const RankWorkScope&) = delete;

 private:
  RankContext& rank_;
  const RankWork outer_;
};

/// Returns the bytes of tensors that the calling rank holds on this kind of device, and what is
/// reserved for tensors on this device.
MemoryStats memory_stats(const Place& place);
/// Returns the bytes of tensors that the calling rank holds on a tier. On the host these are user
/// arrays that a tensor may still need.
inline MemoryStats memory_stats(Tier tier) { return RankContext::current().memory()->stats(tier); }
/// Resets the peaks to the current values.
void reset_memory_peak(const Place& place);
void reset_memory_peak(Tier tier);

/// Turns deferral of user data on (the default) or off, for data that is passed to the calling rank
/// afterwards. See RankContext::deferred_transfer.
inline void set_deferred_transfer(bool deferred) {
  RankContext::current().set_deferred_transfer(deferred);
}
inline bool deferred_transfer() { return RankContext::current().deferred_transfer(); }

/// Returns the cached blocks of the calling rank, and of the pool of its device, to the system.
void release_cached();

}  // namespace phi
