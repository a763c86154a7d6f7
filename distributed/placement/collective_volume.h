// What the collectives of Group move, as pure arithmetic: shared by the implementation and by
// whoever plans with it. Knows no communicator.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// An all-reduce of at most this many bytes sends everything to everyone and reduces locally: one
/// round. A larger one is a reduce-scatter and an all-gather: two rounds, fewer bytes.
inline constexpr int64_t kAllReduceByGatherBytes = int64_t{16} * 1024;

constexpr bool all_reduce_by_gather(int64_t bytes, int64_t ranks) {
  return ranks <= 2 ? bytes <= 4 * kAllReduceByGatherBytes
                    : bytes * (ranks - 1) <= 4 * kAllReduceByGatherBytes;
}

}  // namespace phi::distributed
