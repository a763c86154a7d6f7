// Byte volumes of Group's collectives, as pure arithmetic. Group and the planner share it; it needs
// no communicator.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// Unit of the size limit in all_reduce_by_gather.
inline constexpr int64_t kAllReduceByGatherBytes = int64_t{16} * 1024;

/// Whether an all-reduce of `bytes` runs in one round: every member sends its array to every other
/// and reduces locally. A larger one is a reduce-scatter and an all-gather, which is two rounds
/// with fewer bytes.
constexpr bool all_reduce_by_gather(int64_t bytes, int64_t ranks) {
  return ranks <= 2 ? bytes <= 4 * kAllReduceByGatherBytes
                    : bytes * (ranks - 1) <= 4 * kAllReduceByGatherBytes;
}

}  // namespace phi::distributed
