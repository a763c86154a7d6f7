// Items: an array as elements, or slices along an axis, that are compared as a whole; for unique
// and unique_consecutive, which give some of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// x as items that are compared as a whole: item i consists of the elements
/// data[o * items * inner + i * inner + e] for all o < outer, e < inner.
template <typename T>
struct Items {
  const T* data;
  int64_t outer;
  int64_t items;
  int64_t inner;

  const T* part(int64_t o, int64_t i) const { return data + (o * items + i) * inner; }
};

/// -1, 0, 1; NaN equals NaN and is larger than everything else.
template <typename T>
inline int compare(T a, T b) {
  if constexpr (kIs16Bit<T>) {
    return compare(static_cast<float>(a), static_cast<float>(b));
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    const bool a_nan = a != a;
    const bool b_nan = b != b;
    return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  }
}

template <typename T>
inline int compare_items(const Items<T>& x, int64_t i, int64_t j) {
  for (int64_t o = 0; o < x.outer; ++o) {
    const T* a = x.part(o, i);
    const T* b = x.part(o, j);
    for (int64_t e = 0; e < x.inner; ++e) {
      const int order = compare(a[e], b[e]);
      if (order != 0) return order;
    }
  }
  return 0;
}

/// The items of x, the shape that they are in, and where in that their number stands.
template <typename T>
struct ItemsOf {
  ItemsOf(const DenseTensor& x, const std::vector<int>& axis)
      : items{x.data<T>(), 1, x.numel(), 1}, dims{x.numel()} {
    if (axis.empty()) return;
    dims = x.dims();
    at = axis[0] < 0 ? axis[0] + dims.ndim() : axis[0];
    items = {x.data<T>(), dims.numel(0, at), dims[at], dims.numel(at + 1, dims.ndim())};
  }
  Items<T> items;
  Dims dims;
  int at = 0;
};

/// Assigns *out with `value(i)` for i < n, in int32 or int64.
template <typename Value>
void assign_integers(DataType dtype, int64_t n, const Place& place, Value value, DenseTensor* out) {
  *out = DenseTensor::empty({{n}, dtype, out->meta().layout}, place);
  if (dtype == DataType::INT32) {
    auto* to = out->mutable_data<int32_t>();
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(value(i));
  } else {
    auto* to = out->mutable_data<int64_t>();
    for (int64_t i = 0; i < n; ++i) to[i] = value(i);
  }
}

/// Assigns *out with the items chosen(0), chosen(1), ... of x, `count` of them.
template <typename T, typename Chosen>
void assign_items(const DenseTensor& x, const ItemsOf<T>& from, int64_t count, Chosen chosen,
                  DenseTensor* out) {
  Dims dims = from.dims;
  dims[from.at] = count;
  *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, x.place());
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < from.items.outer; ++o) {
    for (int64_t g = 0; g < count; ++g)
      to = std::copy_n(from.items.part(o, chosen(g)), from.items.inner, to);
  }
}

}  // namespace phi
