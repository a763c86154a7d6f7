// Functions for the FLOP estimates of operators: the generator translates the YAML key kernel.flops
// into calls of them.
#pragma once

#include <algorithm>

#include "phi/common/dims.h"

namespace phi::flop_count {

inline double elements(const Dims& dims) { return static_cast<double>(dims.numel()); }
/// Extent of tensor dim `dim`; a negative `dim` counts from the end. Returns 1 if there is no such
/// tensor dim.
inline double extent(const Dims& dims, int dim) {
  const int at = dim < 0 ? dim + dims.ndim() : dim;
  return at >= 0 && at < dims.ndim() ? static_cast<double>(dims[at]) : 1.0;
}
/// A divisor of an estimate; at least 1, so that a tensor without elements does not divide by 0.
inline double divisor(double value) { return std::max(value, 1.0); }

}  // namespace phi::flop_count
