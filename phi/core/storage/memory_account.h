// MemoryAccount: the memory of one rank. It counts exactly the bytes of the rank's storages, per
// kind of device, and their bytes on lower tiers. It owns the cache of host blocks from which
// storages are allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "phi/common/intrusive_ptr.h"
#include "phi/common/place.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/storage/block_cache.h"
#include "phi/core/storage/tier.h"

namespace phi {

/// Bytes. On a GPU, `reserved` and `peak_reserved` are those of its pool, for all ranks of the
/// process (memory_stats(place)).
struct MemoryStats {
  int64_t current = 0;        // bytes held by storages now
  int64_t peak = 0;           // maximum of `current` since the last reset_peak
  int64_t reserved = 0;       // bytes obtained from the system, in use or cached
  int64_t peak_reserved = 0;  // maximum of `reserved` since the last reset_peak
};

/// Shared by a rank context and the storages made in it, so that a storage may outlive its context.
class MemoryAccount : public RefCounted<MemoryAccount> {
 public:
  void add(DeviceKind kind, int64_t bytes) { tallies_[static_cast<int>(kind)].add(bytes); }
  void remove(DeviceKind kind, int64_t bytes) {
    tallies_[static_cast<int>(kind)].current.fetch_sub(bytes, std::memory_order_relaxed);
  }
  MemoryStats stats(DeviceKind kind) const {
    const auto& tally = tallies_[static_cast<int>(kind)];
    MemoryStats stats{.current = tally.current.load(), .peak = tally.peak.load()};
    if (kind == DeviceKind::CPU) {
      const BlockCache::Stats blocks = blocks_.stats();
      stats.reserved = blocks.reserved;
      stats.peak_reserved = blocks.peak_reserved;
    }
    return stats;
  }
  void reset_peak(DeviceKind kind) {
    auto& tally = tallies_[static_cast<int>(kind)];
    tally.peak.store(tally.current.load());
    if (kind == DeviceKind::CPU) blocks_.reset_peak();
  }
  /// Counts bytes on a tier below the device, such as user arrays that are not used yet.
  void add(Tier tier, int64_t bytes) { lower_tiers_[static_cast<int>(tier)].add(bytes); }
  void remove(Tier tier, int64_t bytes) {
    lower_tiers_[static_cast<int>(tier)].current.fetch_sub(bytes, std::memory_order_relaxed);
  }
  /// Sets the kind of device on which the rank computes. Tier::kDevice and the device limit refer
  /// to this kind.
  void set_device(DeviceKind kind) { device_ = kind; }
  MemoryStats stats(Tier tier) const {
    if (tier == Tier::kDevice) return stats(device_);
    const auto& tally = lower_tiers_[static_cast<int>(tier)];
    return {.current = tally.current.load(), .peak = tally.peak.load()};
  }
  void reset_peak(Tier tier) {
    if (tier == Tier::kDevice) return reset_peak(device_);
    auto& tally = lower_tiers_[static_cast<int>(tier)];
    tally.peak.store(tally.current.load());
  }
  /// Limits the bytes of all storages on the rank's kind of device; an allocation that would exceed
  /// the limit fails.
  void set_device_limit(int64_t bytes) { device_limit_ = bytes; }
  int64_t device_limit() const { return device_limit_; }
  /// Whether an allocation of `bytes` stays within the limit. Other kinds of device have no limit.
  bool has_room(DeviceKind kind, int64_t bytes) const { return kind != device_ || has_room(bytes); }
  bool has_room(int64_t bytes) const {
    const auto& tally = tallies_[static_cast<int>(device_)];
    return bytes <= device_limit_ - tally.current.load(std::memory_order_relaxed);
  }
  /// Counts bytes that a real run would allocate and a dry run does not, for all kinds of device
  /// together.
  void plan(int64_t bytes) { planned_.add(bytes); }
  void end_plan(int64_t bytes) { planned_.current.fetch_sub(bytes, std::memory_order_relaxed); }
  MemoryStats planned() const {
    return {.current = planned_.current.load(), .peak = planned_.peak.load()};
  }
  /// Lock of the copy-on-write aliases of all storages that were made under this
  /// account.
  std::atomic_flag& alias_lock() { return alias_lock_; }
  /// Cache from which the bytes of storages on the CPU and kernels' scratch are allocated. Small
  /// storages share a block with their object.
  BlockCache& blocks() { return blocks_; }
  /// Cache of the other storage objects. They are not part of `reserved`, which therefore does not
  /// depend on how many tensors without bytes a rank has.
  BlockCache& objects() { return objects_; }
  /// Returns unused blocks of both caches to the system.
  void release_cached() {
    blocks_.release();
    objects_.release();
  }
  static void destroy(MemoryAccount* account) { delete account; }

 private:
  struct Tally {
    std::atomic<int64_t> current{0};
    std::atomic<int64_t> peak{0};
    void add(int64_t bytes) {
      const int64_t now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
      int64_t most = peak.load(std::memory_order_relaxed);
      yield_point("memory_account.add.compared");
      while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
      }
    }
  };
  std::array<Tally, kNumDeviceKinds> tallies_;
  std::array<Tally, kNumTiers> lower_tiers_;
  Tally planned_;
  DeviceKind device_ = DeviceKind::CPU;
  std::atomic_flag alias_lock_;
  int64_t device_limit_ = std::numeric_limits<int64_t>::max();
  BlockCache blocks_;
  BlockCache objects_;
};

}  // namespace phi
