// Indices along a tensor dim, for the kernels of each device: their dtypes, and where they count
// from.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// Calls f with a pointer to the indices, int32 or int64.
template <typename F>
void visit_indices(const DenseTensor& indices, F&& f) {
  if (indices.dtype() == DataType::INT32) return f(indices.data<int32_t>());
  f(indices.data<int64_t>());
}

/// Counted from the first of `extent`.
PHI_HD int64_t from_front(int64_t index, int64_t extent) {
  return index + (index < 0 ? extent : 0);
}

}  // namespace phi
