// Operators that overwrite a tensor of any earlier shape and dtype.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi::composite {

/// Assigns x's value to `output` and returns it. If shape and dtype are equal, writes to output's
/// bytes. Otherwise output gets x's shape, dtype and placements and new bytes; views of its old
/// bytes do not change.
Tensor& assign_into(const Tensor& x, Tensor& output);

/// Same as assign_into with a tensor of `shape` whose elements are `value`, replicated on output's
/// mesh if output is distributed.
Tensor& full_into(Tensor& output, const IntArray& shape, const Scalar& value, DataType dtype,
                  const Place& place);

}  // namespace phi::composite
