// A number from an attribute as an element.
#pragma once

#include "phi/core/attribute.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// Floats are truncated to integers, as cast does.
template <typename T>
T scalar_value(const Scalar& value) {
  return is_floating(value.dtype()) ? convert_value<T>(value.to<double>())
                                    : convert_value<T>(value.to<int64_t>());
}

}  // namespace phi
