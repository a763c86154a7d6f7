// Compares tensors with their expected values.
#pragma once

#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

/// Whether two numbers are equal within `most`. NaN equals NaN; an infinity equals itself.
bool same_within(double got, double want, double most);

/// The first difference between plain tensors: shape, dtype, or an element that differs by more
/// than `tolerance` times the largest finite magnitude of `expected` (at least 1). Empty if there
/// is none.
std::string difference(const Tensor& actual, const Tensor& expected, double tolerance);

}  // namespace phi::testing
