// What running sums need of no type.
#include <algorithm>

#include "phi/kernels/gpu/scan/running_sums.h"

namespace phi::gpu {
namespace {

/// One block: sums become those before each, and behind the last that of all.
__global__ void scan_ranges(int64_t count, int64_t* sums) {
  if (count == 0 && threadIdx.x == 0) sums[0] = 0;
  scan_line<SumScan<int64_t>>(
      Team<kBlock>(), count, [&](int64_t k) { return sums[k]; },
      [&](int64_t k, int64_t before, int64_t joined) {
        sums[k] = before;
        if (k + 1 == count) sums[count] = joined;
      });
}

}  // namespace

SumRanges::SumRanges(const GpuContext& ctx, int64_t elements) : n(elements) {
  constexpr int64_t kLeast = 4096;  // elements of a range
  const int64_t wanted = std::clamp<int64_t>((n + kLeast - 1) / kLeast, 1, blocks_for(ctx, n));
  size = (n + wanted - 1) / wanted;
  count = (n + size - 1) / size;
}

void place_ranges(const GpuContext& ctx, int64_t count, int64_t* sums) {
  launch(ctx, scan_ranges, 1, kBlock, count, sums);
}

}  // namespace phi::gpu
