// The default context of a process, and the memory of the calling rank.
#include "phi/core/rank_context.h"

#include "phi/core/device/device.h"

namespace phi {

RankContext& RankContext::process_default() {
  static auto& context = *new RankContext;
  return context;
}

MemoryStats memory_stats(const Place& place) {
  MemoryStats stats = RankContext::current().memory()->stats(place.kind);
  if (place.kind == DeviceKind::CPU) return stats;
  const Device::Pool pool = Device::of(place).pool();
  stats.reserved = pool.reserved;
  stats.peak_reserved = pool.peak_reserved;
  return stats;
}

void reset_memory_peak(const Place& place) {
  RankContext::current().memory()->reset_peak(place.kind);
  Device::of(place).reset_pool_peak();
}

void reset_memory_peak(Tier tier) {
  RankContext& rank = RankContext::current();
  rank.memory()->reset_peak(tier);
  if (tier == Tier::kDevice) Device::of(rank.place()).reset_pool_peak();
}

void release_cached() {
  RankContext& rank = RankContext::current();
  rank.memory()->release_cached();
  Device::of(rank.place()).release_pool();
}

}  // namespace phi
