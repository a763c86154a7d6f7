// Conversion of a number that is an operand next to a tensor, as in x + 2.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi {

/// Returns `value` if the dtype of x can represent it. Errors: InvalidArgument, which names both
/// and `use` ("added to"), if x has an integer dtype and `value` is a fraction or out of its range.
const Scalar& checked_scalar(const Tensor& x, const Scalar& value, const char* use);

/// Returns a plain 0-D tensor of `value` in the dtype of x. Errors: those of checked_scalar.
Tensor scalar_like(const Tensor& x, const Scalar& value, const char* use);

}  // namespace phi
