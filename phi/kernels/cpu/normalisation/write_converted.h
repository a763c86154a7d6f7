// Statistics and sums of channels, computed in double, as tensors.
#pragma once

#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"

namespace phi {

/// Writes `values` in the dtype of *out, which has as many elements. Nothing if out is null.
inline void write_converted(const std::vector<double>& values, DenseTensor* out) {
  if (out == nullptr) return;
  visit_dtype(out->dtype(), [&]<typename To>() {
    convert(values.data(), out->mutable_data<To>(), static_cast<int64_t>(values.size()));
  });
}

}  // namespace phi
