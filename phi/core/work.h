// Words in which the work of an operator is estimated: the YAML key kernel.flops, as the generator
// writes it in C++.
#pragma once

#include <algorithm>

#include "phi/common/dims.h"

namespace phi::work {

inline double elements(const Dims& dims) { return static_cast<double>(dims.numel()); }
/// Of tensor dim `dim`, counted from the end where it is negative; 1 where there is no such dim.
inline double extent(const Dims& dims, int dim) {
  const int at = dim < 0 ? dim + dims.ndim() : dim;
  return at >= 0 && at < dims.ndim() ? static_cast<double>(dims[at]) : 1.0;
}
/// For a tensor without elements an estimate divides by 1.
inline double divisor(double value) { return std::max(value, 1.0); }

}  // namespace phi::work
