// Sorts positions by the slice that they select and finds where each slice's begin.
#include "phi/gpu/launch.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/gpu/indexing/radix_sort.h"
#include "phi/kernels/gpu/partition_point.h"

namespace phi::gpu {
namespace {

__global__ void make_keys(const int64_t* places, int64_t n, int64_t extent, uint64_t* keys) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    keys[i] = static_cast<uint64_t>(places[i] < 0 ? extent : places[i]);
  }
}

__global__ void number_positions(const int64_t* values, int64_t n, int64_t* positions) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    positions[i] = values ? values[i] : i;
  }
}

/// begins[s] is the number of keys below s.
__global__ void find_begins(const uint64_t* keys, int64_t n, int64_t slices, int64_t* begins) {
  for (int64_t s = first_item(); s <= slices; s += item_stride()) {
    begins[s] = partition_point(n, [&](int64_t k) { return keys[k] < static_cast<uint64_t>(s); });
  }
}

}  // namespace

PositionsBySlice positions_by_slice(const GpuContext& ctx, const DenseTensor& places,
                                    int64_t extent, const DenseTensor* values) {
  const int64_t n = places.numel();
  const TensorMeta meta{{n}, DataType::INT64};
  SortedPairs pairs{DenseTensor::empty(meta, ctx.place()), DenseTensor::empty(meta, ctx.place())};
  if (n > 0) {
    launch(ctx, make_keys, blocks_for(ctx, n), kBlock, places.data<int64_t>(), n, extent,
           static_cast<uint64_t*>(pairs.keys.mutable_raw_data()));
    launch(ctx, number_positions, blocks_for(ctx, n), kBlock,
           values ? values->data<int64_t>() : nullptr, n, pairs.values.mutable_data<int64_t>());
    pairs = radix_sort(ctx, std::move(pairs), bits_below(extent + 1));
  }
  DenseTensor begins = DenseTensor::empty({{extent + 1}, DataType::INT64}, ctx.place());
  launch(ctx, find_begins, blocks_for(ctx, extent + 1), kBlock,
         static_cast<const uint64_t*>(pairs.keys.raw_data()), n, extent,
         begins.mutable_data<int64_t>());
  return {begins, pairs.values};
}

}  // namespace phi::gpu
