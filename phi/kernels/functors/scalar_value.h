// An attribute's number as an element.
#pragma once

#include "phi/core/attribute.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// Floats on their way to integers lose their fraction, as cast does it.
template <typename T>
T scalar_value(const Scalar& value) {
  return is_floating(value.dtype()) ? convert_value<T>(value.to<double>())
                                    : convert_value<T>(value.to<int64_t>());
}

}  // namespace phi
