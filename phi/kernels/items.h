// Items: elements of an array, or slices along an axis, that `unique` and `unique_consecutive`
// compare as a whole. Shared by all devices.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// A view of x as items. Item i consists of the elements data[o * items * inner + i * inner + e]
/// for all o < outer and e < inner.
template <typename T>
struct Items {
  const T* data;
  int64_t outer;
  int64_t items;
  int64_t inner;

  PHI_HD const T* part(int64_t o, int64_t i) const { return data + (o * items + i) * inner; }
};

/// Three-way comparison: -1, 0 or 1. NaN equals NaN and is larger than any number. C is a compute
/// type (compute_t).
template <typename C>
PHI_HD int compare(C a, C b) {
  if (a < b) return -1;
  if (b < a) return 1;
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  return static_cast<int>(a_nan) - static_cast<int>(b_nan);
}

/// Lexicographic three-way comparison of items i and j, with `compare` for their elements.
template <typename T>
PHI_HD int compare_items(const Items<T>& x, int64_t i, int64_t j) {
  using C = compute_t<T>;
  for (int64_t o = 0; o < x.outer; ++o) {
    const T* a = x.part(o, i);
    const T* b = x.part(o, j);
    for (int64_t e = 0; e < x.inner; ++e) {
      const int order = compare(static_cast<C>(a[e]), static_cast<C>(b[e]));
      if (order != 0) return order;
    }
  }
  return 0;
}

/// Whether two items have the same elements. NaN equals nothing.
template <typename T>
PHI_HD bool are_equal(const Items<T>& x, int64_t i, int64_t j) {
  using C = compute_t<T>;
  for (int64_t o = 0; o < x.outer; ++o) {
    const T* a = x.part(o, i);
    const T* b = x.part(o, j);
    for (int64_t e = 0; e < x.inner; ++e) {
      if (static_cast<C>(a[e]) != static_cast<C>(b[e])) return false;
    }
  }
  return true;
}

/// The items of x, the dims of x that they come from, and the tensor dim `at` that counts them.
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

}  // namespace phi
