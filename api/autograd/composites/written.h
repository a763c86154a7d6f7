// Operators that write over a tensor, whatever it was.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi::composite {

/// `output` takes x's values: in its own bytes where shape and dtype are the same, and else with
/// x's shape, dtype and placements in bytes of its own, which no other handle sees.
Tensor& assign_into(const Tensor& x, Tensor& output);

/// The same of a tensor of `shape` that is `value` everywhere, on output's mesh if it has one.
Tensor& full_into(Tensor& output, const IntArray& shape, const Scalar& value, DataType dtype,
                  const Place& place);

}  // namespace phi::composite
