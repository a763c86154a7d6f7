// The tiers that bytes can lie on, and exact counts of what moves between them.
//
//   | device  where kernels compute. Without a GPU this is host memory that storages hold, limited
//   |         where the job gives a limit
//   | host    memory that holds values for the user or for a device that has no room
//   | disk    files: those that the user gives and those that values are swapped out to
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace phi {

enum class Tier : uint8_t { kDevice = 0, kHost, kDisk };
inline constexpr int kNumTiers = 3;

/// "device", "host", "disk".
const char* name_of(Tier tier);

struct TransferCount {
  int64_t count = 0;
  int64_t bytes = 0;
  friend bool operator==(const TransferCount&, const TransferCount&) = default;
};

/// What moved from each tier to each other since the last reset.
class TransferStats {
 public:
  const TransferCount& of(Tier from, Tier to) const { return counts_[index(from, to)]; }
  void add(Tier from, Tier to, int64_t bytes) {
    TransferCount& count = counts_[index(from, to)];
    ++count.count;
    count.bytes += bytes;
  }
  friend bool operator==(const TransferStats&, const TransferStats&) = default;

 private:
  static size_t index(Tier from, Tier to) {
    return static_cast<size_t>(from) * kNumTiers + static_cast<size_t>(to);
  }
  std::array<TransferCount, static_cast<size_t>(kNumTiers* kNumTiers)> counts_{};
};

/// Of the calling rank; exact.
TransferStats transfer_stats();
void reset_transfer_stats();
/// Counts one transfer of the calling rank; whoever moves bytes between tiers calls it once, on the
/// rank's own thread.
void count_transfer(Tier from, Tier to, int64_t bytes);

}  // namespace phi
