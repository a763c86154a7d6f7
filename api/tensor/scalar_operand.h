// Numbers beside tensors: what an operator takes where its user wrote a number.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi {

/// `value` if the dtype of x has it. Errors: InvalidArgument, naming both and what was to be done
/// ("added to"), for a fraction with integers, and for a number that an integer dtype has not.
const Scalar& checked_scalar(const Tensor& x, const Scalar& value, const char* use);

/// A plain tensor [] of that number in the dtype of x.
Tensor scalar_like(const Tensor& x, const Scalar& value, const char* use);

}  // namespace phi
