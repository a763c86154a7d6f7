// LowerTiers: the copies of values on host and disk while a plan is made: what is stored where,
// what makes way for it, and which transfers that takes.
#pragma once

#include "phi/memory/plan/tier_pool.h"
#include "phi/memory/plan/transfer_log.h"
#include "phi/memory/plan/use_clock.h"

namespace phi::memory {

class LowerTiers {
 public:
  static constexpr int32_t kNone = -1;

  /// All must outlive this.
  LowerTiers(const ProgramIndex& index, const UseClock& clock, TransferLog& log,
             const MemoryLimits& limits);

  bool holds(BufferId buffer, Tier tier) const { return copy(buffer, tier).valid; }
  bool holds(BufferId buffer) const {
    return holds(buffer, Tier::kHost) || holds(buffer, Tier::kDisk);
  }
  /// The device has the value, too: the copies here are spare.
  void set_on_device(BufferId buffer, bool on_device) {
    on_device_[static_cast<size_t>(buffer)] = on_device;
  }

  /// The value is there before the run begins. False if it does not fit.
  bool hold_at_start(BufferId buffer, Tier tier);

  /// Copies a value from the device: to the host, or where that would displace what is used sooner,
  /// to the disk. `from_device` says where from and what to wait for. Returns the action; kNone
  /// if there is no room on either.
  int32_t store(SwapAction from_device, double now);
  int32_t store_on(Tier tier, SwapAction from_device, double now);
  /// Copies a value to the device, from the host if it is there. `to_device` says where to and what
  /// to wait for. Returns the action.
  int32_t fetch(SwapAction to_device, double now);
  /// Copies a value between host and disk, and ends the source if `release_source`. Returns the
  /// action; kNone if there is no room.
  int32_t copy_between(BufferId buffer, Tier from, Tier to, bool release_source, int32_t issue,
                       double now);
  /// Brings a value from disk to host if there is room that nobody needs sooner.
  bool promote(BufferId buffer, int32_t issue, double now);
  /// Ends a copy that is not needed, after the transfer that makes or reads it.
  void drop(BufferId buffer, Tier tier, int32_t issue);
  void drop_all(BufferId buffer, int32_t issue);
  /// Room for `bytes` is there or can be made at `issue`.
  bool make_room(Tier tier, int64_t bytes, int32_t next_use, bool insist, int32_t issue,
                 double now);

  /// Where a fetch would come from.
  Tier source(BufferId buffer) const {
    return holds(buffer, Tier::kHost) ? Tier::kHost : Tier::kDisk;
  }
  int64_t available(Tier tier) const { return pool(tier).available(); }
  int64_t peak_bytes(Tier tier) const { return pool(tier).peak_bytes(); }
  /// The earliest next use of a value that has come to lie on the disk only since the last call;
  /// a step beyond all if there is none.
  int32_t take_earliest_on_disk();

 private:
  struct Copy {
    bool valid = false;
    int32_t last = kNone;    // the transfer that touched it last; it waits for all before it
    int32_t listed = kNone;  // its place in the tier's list
  };
  Copy& copy(BufferId buffer, Tier tier) {
    return copies_[static_cast<size_t>(tier) - 1][static_cast<size_t>(buffer)];
  }
  const Copy& copy(BufferId buffer, Tier tier) const {
    return copies_[static_cast<size_t>(tier) - 1][static_cast<size_t>(buffer)];
  }
  TierPool& pool(Tier tier) { return pools_[static_cast<size_t>(tier) - 1]; }
  const TierPool& pool(Tier tier) const { return pools_[static_cast<size_t>(tier) - 1]; }
  int64_t bytes_of(BufferId buffer) const {
    return occupied_bytes(Tier::kHost, index_.nbytes(buffer));
  }
  void add_copy(BufferId buffer, Tier tier, int32_t action);
  void remove_copy(BufferId buffer, Tier tier);
  bool can_drop(BufferId buffer, Tier tier, int32_t issue) const;
  bool make_one_way(Tier tier, int32_t next_use, bool insist, int32_t issue, double now);
  /// How gladly a copy gives way; 0: not at all.
  double readiness(BufferId buffer, Tier tier, int32_t next_use, bool insist, int32_t issue) const;
  void note_on_disk(BufferId buffer);

  const ProgramIndex& index_;
  const UseClock& clock_;
  TransferLog& log_;
  std::array<TierPool, 2> pools_;
  std::array<std::vector<Copy>, 2> copies_;    // by buffer
  std::array<std::vector<BufferId>, 2> held_;  // the valid ones
  std::array<size_t, 2> turn_{};               // in held_
  std::vector<bool> on_device_;
  int32_t earliest_on_disk_;
};

}  // namespace phi::memory
