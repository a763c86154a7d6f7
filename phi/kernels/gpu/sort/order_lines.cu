// The part of sorting lines that does not depend on the element type.
#include "phi/kernels/gpu/sort/order_lines.h"

namespace phi::gpu {
namespace {

__global__ void key_by_line(const int64_t* elements, int64_t all, int64_t n, uint64_t* keys) {
  for (int64_t i = first_item(); i < all; i += item_stride()) {
    keys[i] = static_cast<uint64_t>(elements[i] / n);
  }
}

}  // namespace

SortedPairs sort_by_line(const GpuContext& ctx, SortedPairs pairs, int64_t n) {
  const int64_t all = pairs.values.numel();
  launch(ctx, key_by_line, blocks_for(ctx, all), kBlock, pairs.values.data<int64_t>(), all, n,
         static_cast<uint64_t*>(pairs.keys.mutable_raw_data()));
  return radix_sort(ctx, std::move(pairs), bits_below(all / n));
}

}  // namespace phi::gpu
