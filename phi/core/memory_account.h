// Exact byte accounting of one rank: current and peak bytes held by storages, per kind of device.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "phi/common/intrusive_ptr.h"
#include "phi/common/place.h"

namespace phi {

struct MemoryStats {
  int64_t current = 0;  // bytes held now
  int64_t peak = 0;     // most bytes held at once since the last reset_peak
};

/// Shared by a rank context and the storages made in it, so that a storage may outlive its context.
class MemoryAccount : public RefCounted<MemoryAccount> {
 public:
  void add(DeviceKind kind, int64_t bytes) {
    auto& tally = tallies_[static_cast<int>(kind)];
    const int64_t now = tally.current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = tally.peak.load(std::memory_order_relaxed);
    while (now > peak && !tally.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(DeviceKind kind, int64_t bytes) {
    tallies_[static_cast<int>(kind)].current.fetch_sub(bytes, std::memory_order_relaxed);
  }
  MemoryStats stats(DeviceKind kind) const {
    const auto& tally = tallies_[static_cast<int>(kind)];
    return {tally.current.load(), tally.peak.load()};
  }
  void reset_peak(DeviceKind kind) {
    auto& tally = tallies_[static_cast<int>(kind)];
    tally.peak.store(tally.current.load());
  }
  static void destroy(MemoryAccount* account) { delete account; }

 private:
  struct Tally {
    std::atomic<int64_t> current{0};
    std::atomic<int64_t> peak{0};
  };
  std::array<Tally, kNumDeviceKinds> tallies_;
};

}  // namespace phi
