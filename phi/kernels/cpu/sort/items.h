// Outputs of unique and unique_consecutive on the CPU: selected items, and integers per item.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/items.h"

namespace phi {

/// Assigns a new int32 or int64 tensor with `value(i)` for i < n to *out.
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

/// Assigns a new tensor with the items chosen(0), chosen(1), ... of x, `count` of them, to *out.
template <typename T, typename Chosen>
void assign_items(const DenseTensor& x, const ItemsOf<T>& from, int64_t count, Chosen chosen,
                  DenseTensor* out) {
  Dims dims = from.dims;
  dims[from.at] = count;
  *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, x.place());
  T* to = out->mutable_data<T>();
  if (from.items.outer == 1 && from.items.inner == 1) {
    const T* items = from.items.data;
    for (int64_t g = 0; g < count; ++g) to[g] = items[chosen(g)];
    return;
  }
  for (int64_t o = 0; o < from.items.outer; ++o) {
    for (int64_t g = 0; g < count; ++g)
      to = std::copy_n(from.items.part(o, chosen(g)), from.items.inner, to);
  }
}

}  // namespace phi
