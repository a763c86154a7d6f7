// Element-wise gather: offsets of the selected elements, and of their counterparts.
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/indexing/elements.h"

namespace phi::gpu {
namespace {

__global__ void walk_offsets(int64_t n, Walk<1> walk, int64_t* offsets) {
  for (int64_t i = first_item(); i < n; i += item_stride()) offsets[i] = walk.offsets(i).at[0];
}

template <typename W>
__global__ void take_places(const W* array, const int64_t* places, int64_t n, Walk<1> walk,
                            W* second) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    second[walk.offsets(i).at[0]] = places[i] < 0 ? W{} : array[places[i]];
  }
}

/// Offsets in the second array of the elements that belong to indices of `dims`.
Walk<1> walk_second(const Dims& dims, const Dims& second) {
  const Dims strides = second.strides();
  Walk<1> walk;
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    if (dims[d] != 1) walk.append(dims[d], {strides[d]});
  }
  return walk;
}

}  // namespace

PositionsBySlice positions_by_element(const GpuContext& ctx, const Dims& array,
                                      const ElementAxis& named, const Dims& second) {
  const DenseTensor places = element_places(ctx, array, named);
  const int64_t n = places.numel();
  DenseTensor offsets = DenseTensor::empty(places.meta(), ctx.place());
  if (n > 0) {
    launch(ctx, walk_offsets, blocks_for(ctx, n), kBlock, n,
           walk_second(named.indices.dims(), second), offsets.mutable_data<int64_t>());
  }
  return positions_by_slice(ctx, places, array.numel(), &offsets);
}

void take_elements(const GpuContext& ctx, const DenseTensor& array, const ElementAxis& named,
                   DenseTensor* second) {
  const DenseTensor places = element_places(ctx, array.dims(), named);
  const int64_t n = places.numel();
  if (n == 0) return;
  visit_width(size_of(array.dtype()), [&]<typename W>() {
    launch(ctx, take_places<W>, blocks_for(ctx, n), kBlock, static_cast<const W*>(array.raw_data()),
           places.data<int64_t>(), n, walk_second(named.indices.dims(), second->dims()),
           static_cast<W*>(second->mutable_raw_data()));
  });
}

}  // namespace phi::gpu
