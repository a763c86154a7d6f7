// Binary search for use in kernels.
#pragma once

#include <cstdint>

#include "phi/common/host_device.h"

namespace phi::gpu {

/// The first k in [0, n) for which is_before(k) is false, or n if there is none. is_before must be
/// monotone: true below that k, false from there on.
template <typename IsBefore>
PHI_HD int64_t partition_point(int64_t n, const IsBefore& is_before) {
  int64_t low = 0;
  int64_t high = n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace phi::gpu
