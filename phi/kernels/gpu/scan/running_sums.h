// Running sums of counts over all blocks of a GPU, and what is made of them: the places of the
// elements that a condition chooses, in their order.
//
//   const Chosen chosen = choose(ctx, n, IsTrue{mask});  // the host waits for their number
//   index_loop(ctx, out, chosen.count(), Take{chosen.places.data<int64_t>(), x});
//
// Each block adds up a range, the ranges' sums become where each begins, and each block goes over
// its range again.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/scan/scan_lines.h"
#include "phi/kernels/gpu/value_on_host.h"

namespace phi::gpu {

/// The elements that each of `count` blocks has: [b * size, (b + 1) * size) of n.
struct SumRanges {
  int64_t n;
  int64_t size;
  int64_t count;

  SumRanges(const GpuContext& ctx, int64_t elements);
  __device__ int64_t begin() const { return int64_t{blockIdx.x} * size; }
  __device__ int64_t length() const { return n - begin() < size ? n - begin() : size; }
};

/// Sums of ranges become those of all ranges before each.
void place_ranges(const GpuContext& ctx, int64_t count, int64_t* sums);

template <typename Count>
__global__ void add_ranges(SumRanges ranges, Count count, int64_t* sums) {
  const Team<kBlock> team;
  int64_t sum = 0;
  const int64_t begin = ranges.begin();
  team.each(ranges.length(), [&](int64_t k) { sum += static_cast<int64_t>(count(begin + k)); });
  sum = team.template join<SumReducer<int64_t>>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename Count>
__global__ void write_running_sums(SumRanges ranges, Count count, const int64_t* before_ranges,
                                   int64_t* sums) {
  const int64_t begin = ranges.begin();
  const int64_t base = before_ranges[blockIdx.x];
  scan_line<SumScan<int64_t>>(
      Team<kBlock>(), ranges.length(),
      [&](int64_t k) { return static_cast<int64_t>(count(begin + k)); },
      [&](int64_t k, int64_t before, int64_t joined) {
        sums[begin + k] = base + before;
        if (begin + k + 1 == ranges.n) sums[ranges.n] = base + joined;
      });
}

/// [n + 1]: count(0) + .. + count(i - 1) for each i up to n. Counts are numbers or bool.
template <typename Count>
DenseTensor running_sums(const GpuContext& ctx, int64_t n, const Count& count) {
  DenseTensor sums = DenseTensor::empty({{n + 1}, DataType::INT64}, ctx.place());
  auto* to = sums.mutable_data<int64_t>();
  if (n == 0) {
    place_ranges(ctx, 0, to);
    return sums;
  }
  const SumRanges ranges(ctx, n);
  const auto blocks = static_cast<unsigned>(ranges.count);
  DenseTensor of_ranges = DenseTensor::empty({{ranges.count + 1}, DataType::INT64}, ctx.place());
  auto* before = of_ranges.mutable_data<int64_t>();
  launch(ctx, add_ranges<Count>, blocks, kBlock, ranges, count, before);
  place_ranges(ctx, ranges.count, before);
  launch(ctx, write_running_sums<Count>, blocks, kBlock, ranges, count, before, to);
  return sums;
}

/// What running sums say of all elements; the host waits.
inline int64_t total_of(const DenseTensor& sums) {
  return value_on_host<int64_t>(sums, sums.numel() - 1);
}

/// Elements in rising order, and for each element how many of them are before it: [n + 1].
struct Chosen {
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

/// The places of the elements for which is_chosen(i), as `before` counts them; `room` of them.
template <typename IsChosen>
void write_places(const GpuContext& ctx, const DenseTensor& before, const IsChosen& is_chosen,
                  DenseTensor* places) {
  const int64_t n = before.numel() - 1;
  if (n == 0 || places->numel() == 0) return;
  launch(ctx, write_chosen<IsChosen>, blocks_for(ctx, n), kBlock, n, is_chosen,
         before.data<int64_t>(), places->numel(), places->mutable_data<int64_t>());
}

/// Of n elements those for which is_chosen(i). The host waits.
template <typename IsChosen>
Chosen choose(const GpuContext& ctx, int64_t n, const IsChosen& is_chosen) {
  DenseTensor before = running_sums(ctx, n, is_chosen);
  DenseTensor places = DenseTensor::empty({{total_of(before)}, DataType::INT64}, ctx.place());
  write_places(ctx, before, is_chosen, &places);
  return {std::move(before), std::move(places)};
}

/// The number of the last of some rising starts that is not behind an element, as choose() counts
/// those before each.
struct GroupOf {
  const int64_t* before;
  PHI_HD int64_t operator()(int64_t i) const { return before[i + 1] - 1; }
};

}  // namespace phi::gpu
