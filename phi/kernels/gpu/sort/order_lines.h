// Sorts all lines of an array on a GPU in one sort, by line and then by value. NaN is the largest
// value. The sort is stable.
#pragma once

#include <cstdint>
#include <utility>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/order_key.h"
#include "phi/kernels/gpu/indexing/radix_sort.h"
#include "phi/kernels/gpu/lines.h"

namespace phi::gpu {

template <typename T>
PHI_HD uint64_t key_of(T x, bool descending) {
  const auto key = order_key(static_cast<compute_t<T>>(x));
  return descending ? static_cast<uint64_t>(static_cast<decltype(key)>(~key)) : uint64_t{key};
}

/// Computes the sort keys. Element e has index e % n in line e / n. If `with_line`, short keys have
/// the line number in their upper half.
template <typename T, typename Lines>
__global__ void rank_elements(const T* x, Lines lines, bool descending, bool with_line,
                              uint64_t* keys, int64_t* elements) {
  const int64_t all = lines.count * lines.n;
  for (int64_t e = first_item(); e < all; e += item_stride()) {
    const int64_t line = e / lines.n;
    const uint64_t key = key_of(x[lines.start(line) + lines.at(e - line * lines.n)], descending);
    keys[e] = with_line ? static_cast<uint64_t>(line) << 32 | key : key;
    elements[e] = e;
  }
}

/// Sorts the pairs stably by line; lines have n elements each.
SortedPairs sort_by_line(const GpuContext& ctx, SortedPairs pairs, int64_t n);

/// Returns an array whose element [l * n + k] is l * n plus the index, within line l, of the line's
/// k-th element in sorted order.
template <typename T, typename Lines>
DenseTensor order_lines(const GpuContext& ctx, const DenseTensor& x, const Lines& lines,
                        bool descending) {
  constexpr bool kIsShort = sizeof(order_key_t<compute_t<T>>) == 4;
  const int64_t all = lines.count * lines.n;
  const TensorMeta meta{{all}, DataType::INT64};
  SortedPairs pairs{DenseTensor::empty(meta, ctx.place()), DenseTensor::empty(meta, ctx.place())};
  if (all == 0) return pairs.values;
  auto* keys = static_cast<uint64_t*>(pairs.keys.mutable_raw_data());
  launch(ctx, rank_elements<T, Lines>, blocks_for(ctx, all), kBlock, x.data<T>(), lines, descending,
         kIsShort, keys, pairs.values.mutable_data<int64_t>());
  if (kIsShort) {
    return radix_sort(ctx, std::move(pairs), 32 + bits_below(lines.count)).values;
  }
  pairs = radix_sort(ctx, std::move(pairs), 64);
  return lines.count == 1 ? pairs.values : sort_by_line(ctx, std::move(pairs), lines.n).values;
}

}  // namespace phi::gpu
