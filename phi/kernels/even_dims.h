// Tests whether all inputs of an elementwise loop have the dims of its output.
#pragma once

#include <algorithm>
#include <array>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"

namespace phi {

/// Whether all inputs have `dims`.
template <size_t kInputs>
bool is_even(const std::array<const DenseTensor*, kInputs>& inputs, const Dims& dims) {
  return std::ranges::all_of(inputs, [&](const DenseTensor* in) { return in->dims() == dims; });
}

/// Check of kernels that do not broadcast. Shape functions reject other dims earlier. Errors:
/// Internal.
template <size_t kInputs>
void check_even(const std::array<const DenseTensor*, kInputs>& inputs, const Dims& dims) {
  for (const DenseTensor* in : inputs) {
    PHI_CHECK(in->dims() == dims,
              errors::Internal("an input {} of a kernel that does not broadcast is computed "
                               "with dims {}.",
                               in->meta().to_string(), dims.to_string()));
  }
}

}  // namespace phi
