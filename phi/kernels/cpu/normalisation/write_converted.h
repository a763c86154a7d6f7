// Writes statistics and sums of channels, computed in double, to tensors.
#pragma once

#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"

namespace phi {

/// Writes `values` to *out, converted to its dtype. *out has as many elements. Does nothing if out
/// is null.
inline void write_converted(const std::vector<double>& values, DenseTensor* out) {
  if (out == nullptr) return;
  visit_dtype(out->dtype(), [&]<typename To>() {
    convert(values.data(), out->mutable_data<To>(), static_cast<int64_t>(values.size()));
  });
}

}  // namespace phi
