// The memory of one rank: an exact account of the bytes that its storages hold, per kind of device,
// and of those held for them on lower tiers, and the cache of host blocks that storages come from.
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

struct MemoryStats {
  int64_t current = 0;        // bytes held by storages now
  int64_t peak = 0;           // most bytes held at once since the last reset_peak
  int64_t reserved = 0;       // bytes taken from the system: storages, kernels' scratch, cache
  int64_t peak_reserved = 0;  // most of them at once since the last reset_peak
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
  /// Bytes held on a tier below the device: the user's arrays that wait to be needed, say.
  void add(Tier tier, int64_t bytes) { lower_tiers_[static_cast<int>(tier)].add(bytes); }
  void remove(Tier tier, int64_t bytes) {
    lower_tiers_[static_cast<int>(tier)].current.fetch_sub(bytes, std::memory_order_relaxed);
  }
  /// The kind of device that the rank computes on: what Tier::kDevice and the limit mean.
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
  /// From here on storages on the rank's kind of device that would hold more than `bytes` together
  /// fail.
  void set_device_limit(int64_t bytes) { device_limit_ = bytes; }
  int64_t device_limit() const { return device_limit_; }
  /// Of that kind; there is no limit on others.
  bool has_room(DeviceKind kind, int64_t bytes) const { return kind != device_ || has_room(bytes); }
  bool has_room(int64_t bytes) const {
    const auto& tally = tallies_[static_cast<int>(device_)];
    return bytes <= device_limit_ - tally.current.load(std::memory_order_relaxed);
  }
  /// Bytes that a dry run does not allocate and a real one would, of all kinds of device.
  void plan(int64_t bytes) { planned_.add(bytes); }
  void end_plan(int64_t bytes) { planned_.current.fetch_sub(bytes, std::memory_order_relaxed); }
  MemoryStats planned() const {
    return {.current = planned_.current.load(), .peak = planned_.peak.load()};
  }
  /// Held by who looks at the leases of storages that were made under this account.
  std::atomic_flag& leases() { return leases_; }
  /// Where storages' objects, bytes on the CPU and kernels' scratch get their memory;
  /// `blocks().release()` gives back what none uses.
  BlockCache& blocks() { return blocks_; }
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
  std::atomic_flag leases_;
  int64_t device_limit_ = std::numeric_limits<int64_t>::max();
  BlockCache blocks_;
};

}  // namespace phi
