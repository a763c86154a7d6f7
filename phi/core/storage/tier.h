// Memory tiers, and exact counts of the transfers between them.
//
//   | device  memory on which kernels compute. Without a GPU it is the storages' host memory; a job
//   |         may limit it
//   | host    user arrays that are not used yet, and values that do not fit on the device
//   | disk    files of the user, and files to which values are swapped out
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

/// Transfers from each tier to each tier since the last reset.
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

/// Returns the transfers of the calling rank.
TransferStats transfer_stats();
/// Sets the counts of the calling rank to 0.
void reset_transfer_stats();
/// Counts one transfer of the calling rank. Code that moves bytes between tiers calls it once per
/// transfer, on the rank's own thread.
void count_transfer(Tier from, Tier to, int64_t bytes);

}  // namespace phi
