// Where a tensor differs from what it should be.
#pragma once

#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

/// NaN is the same as NaN, an infinity as itself; finite numbers differ by `most` at the most.
bool same_within(double got, double want, double most);

/// What differs first between plain tensors: shape, dtype or an element, which may be `tolerance`
/// times the largest finite magnitude of `expected` (1 at the least) off; empty if nothing does.
std::string difference(const Tensor& actual, const Tensor& expected, double tolerance);

}  // namespace phi::testing
