// LowerTiers: planner state of the copies on host and disk. It decides where a value is stored,
// which copies are evicted for it, and adds the necessary transfers to the log.
#pragma once

#include "phi/memory/plan/tier_pool.h"
#include "phi/memory/plan/transfer_log.h"
#include "phi/memory/plan/use_clock.h"

namespace phi::memory {

class LowerTiers {
 public:
  static constexpr int32_t kNone = -1;

  /// The arguments must outlive this object.
  LowerTiers(const ProgramIndex& index, const UseClock& clock, TransferLog& log,
             const MemoryLimits& limits);

  bool holds(SwapBufferId buffer, Tier tier) const { return copy(buffer, tier).valid; }
  bool holds(SwapBufferId buffer) const {
    return holds(buffer, Tier::kHost) || holds(buffer, Tier::kDisk);
  }
  /// Sets whether the device has the value too, so that copies on lower tiers are redundant.
  void set_on_device(SwapBufferId buffer, bool on_device) {
    on_device_[static_cast<size_t>(buffer)] = on_device;
  }

  /// Places a value on a tier before the run begins. Returns false if it does not fit.
  bool hold_at_start(SwapBufferId buffer, Tier tier);

  /// Copies a value from the device to the host, or to the disk if a copy on the host would
  /// displace a value that is used sooner. `from_device` has the source offset and the actions to
  /// wait for. Returns the index of the action, or kNone if there is no room on either tier.
  int32_t store(SwapAction from_device, double now);
  int32_t store_on(Tier tier, SwapAction from_device, double now);
  /// Copies a value to the device, from the host if the host has it. `to_device` has the
  /// destination offset and the actions to wait for. Returns the index of the action.
  int32_t fetch(SwapAction to_device, double now);
  /// Copies a value between host and disk, and drops the source if `release_source`. Returns the
  /// index of the action, or kNone if there is no room.
  int32_t copy_between(SwapBufferId buffer, Tier from, Tier to, bool release_source, int32_t issue,
                       double now);
  /// Copies a value from disk to host if this displaces no value that is used sooner. Returns
  /// whether it did.
  bool promote(SwapBufferId buffer, int32_t issue, double now);
  /// Drops a redundant copy, after the last transfer that writes or reads it.
  void drop(SwapBufferId buffer, Tier tier, int32_t issue);
  void drop_all(SwapBufferId buffer, int32_t issue);
  /// Makes room for `bytes` at launch `issue`, by drops and transfers if necessary. A copy
  /// that exists on both tiers and whose value is used before `next_use` is dropped only if
  /// `insist`. Returns false if there is not enough.
  bool make_room(Tier tier, int64_t bytes, int32_t next_use, bool insist, int32_t issue,
                 double now);

  /// The tier from which fetch would read.
  Tier source(SwapBufferId buffer) const {
    return holds(buffer, Tier::kHost) ? Tier::kHost : Tier::kDisk;
  }
  int64_t available(Tier tier) const { return pool(tier).available(); }
  int64_t peak_bytes(Tier tier) const { return pool(tier).peak_bytes(); }
  /// The earliest next use among values that have been moved to the disk only since the last call;
  /// a step after all others if there is none.
  int32_t take_earliest_on_disk();

 private:
  struct Copy {
    bool valid = false;
    int32_t last = kNone;    // the last transfer that uses it, which waits for all earlier ones
    int32_t listed = kNone;  // its index in held_
  };
  Copy& copy(SwapBufferId buffer, Tier tier) {
    return copies_[static_cast<size_t>(tier) - 1][static_cast<size_t>(buffer)];
  }
  const Copy& copy(SwapBufferId buffer, Tier tier) const {
    return copies_[static_cast<size_t>(tier) - 1][static_cast<size_t>(buffer)];
  }
  TierPool& pool(Tier tier) { return pools_[static_cast<size_t>(tier) - 1]; }
  const TierPool& pool(Tier tier) const { return pools_[static_cast<size_t>(tier) - 1]; }
  int64_t bytes_of(SwapBufferId buffer) const {
    return occupied_bytes(Tier::kHost, index_.nbytes(buffer));
  }
  void add_copy(SwapBufferId buffer, Tier tier, int32_t action);
  void remove_copy(SwapBufferId buffer, Tier tier);
  bool can_drop(SwapBufferId buffer, Tier tier, int32_t issue) const;
  bool make_one_way(Tier tier, int32_t next_use, bool insist, int32_t issue, double now);
  /// Priority for eviction of a copy; 0: it must stay.
  double readiness(SwapBufferId buffer, Tier tier, int32_t next_use, bool insist,
                   int32_t issue) const;
  void note_on_disk(SwapBufferId buffer);

  const ProgramIndex& index_;
  const UseClock& clock_;
  TransferLog& log_;
  std::array<TierPool, 2> pools_;
  std::array<std::vector<Copy>, 2> copies_;        // by buffer
  std::array<std::vector<SwapBufferId>, 2> held_;  // buffers with a valid copy
  std::array<size_t, 2> turn_{};                   // position of the next search in held_
  std::vector<bool> on_device_;
  int32_t earliest_on_disk_;
};

}  // namespace phi::memory
