// Running sums of counts over all blocks of a GPU, and stream compaction based on them: the
// ascending indices of the elements that satisfy a condition.
//
//   const SelectedIndices chosen = select_indices(ctx, n, IsTrue{mask});  // the host waits for it
//   index_loop(ctx, out, chosen.count(), Take{chosen.places.data<int64_t>(), x});
#pragma once

#include <cstdint>

#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/scan/scan_parts.h"
#include "phi/kernels/gpu/value_on_host.h"

namespace phi::gpu {

template <typename Count>
struct CountOf {
  Count count;
  __device__ int64_t operator()(int64_t, int64_t i) const { return static_cast<int64_t>(count(i)); }
};

struct StoreSum {
  int64_t n;
  int64_t* sums;
  __device__ void operator()(int64_t, int64_t i, int64_t before, int64_t joined) const {
    sums[i] = before;
    if (i + 1 == n) sums[n] = joined;
  }
};

/// Exclusive prefix sums [n + 1]: element i is count(0) + .. + count(i - 1). Counts are numbers or
/// bool.
template <typename Count>
DenseTensor prefix_sums(const GpuContext& ctx, int64_t n, const Count& count) {
  DenseTensor sums = DenseTensor::empty({{n + 1}, DataType::INT64}, ctx.place());
  auto* const to = sums.mutable_data<int64_t>();
  if (n == 0) {
    fill(ctx, to, 1, int64_t{0});
  } else {
    scan_parts<SumScan<int64_t>>(ctx, LineParts(ctx, 1, n), CountOf<Count>{count}, StoreSum{n, to});
  }
  return sums;
}

/// The total of running sums. The host synchronises with the GPU.
inline int64_t total_of(const DenseTensor& sums) {
  return value_on_host<int64_t>(sums, sums.numel() - 1);
}

/// Result of select_indices(): the chosen elements in ascending order (`places`), and for each
/// element the number of chosen ones before it (`before`, [n + 1]).
struct SelectedIndices {
  DenseTensor before;
  DenseTensor places;
  int64_t count() const { return places.numel(); }
};

template <typename IsChosen>
__global__ void write_chosen(int64_t n, IsChosen is_chosen, const int64_t* before, int64_t room,
                             int64_t* places) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    if (is_chosen(i) && before[i] < room) places[before[i]] = i;
  }
}

/// Writes the indices of the elements for which is_chosen(i) to `places`, which has room for all of
/// them. `before` has the running sums of is_chosen.
template <typename IsChosen>
void write_places(const GpuContext& ctx, const DenseTensor& before, const IsChosen& is_chosen,
                  DenseTensor* places) {
  const int64_t n = before.numel() - 1;
  if (n == 0 || places->numel() == 0) return;
  launch(ctx, write_chosen<IsChosen>, blocks_for(ctx, n), kBlock, n, is_chosen,
         before.data<int64_t>(), places->numel(), places->mutable_data<int64_t>());
}

/// Chooses the elements i < n for which is_chosen(i). The host synchronises with the GPU.
template <typename IsChosen>
SelectedIndices select_indices(const GpuContext& ctx, int64_t n, const IsChosen& is_chosen) {
  DenseTensor before = prefix_sums(ctx, n, is_chosen);
  DenseTensor places = DenseTensor::empty({{total_of(before)}, DataType::INT64}, ctx.place());
  write_places(ctx, before, is_chosen, &places);
  return {std::move(before), std::move(places)};
}

/// Group of element i when groups begin at the chosen elements: the number of starts up to and
/// including i, minus 1.
struct GroupOf {
  const int64_t* before;
  PHI_HD int64_t operator()(int64_t i) const { return before[i + 1] - 1; }
};

}  // namespace phi::gpu
