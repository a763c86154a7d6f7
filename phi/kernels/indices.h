// Index tensors along a tensor dim, shared by all devices: dispatch on their dtype, and negative
// indices.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// Calls f with a pointer to the indices, which are int32 or int64.
template <typename F>
void visit_indices(const DenseTensor& indices, F&& f) {
  if (indices.dtype() == DataType::INT32) return f(indices.data<int32_t>());
  f(indices.data<int64_t>());
}

/// Maps an index in [-extent, extent) to [0, extent): a negative index counts from the end.
PHI_HD int64_t from_front(int64_t index, int64_t extent) {
  return index + (index < 0 ? extent : 0);
}

}  // namespace phi
