// Single numbers in arrays of any dtype, and copies of arrays that an operator leaves unchanged.
#pragma once

#include <cstring>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"

namespace phi {

/// Copies x's bytes to `out`, unless `out` is x's own buffer.
inline void keep(const DenseTensor& x, DenseTensor* out) {
  const void* from = x.raw_data();
  void* to = out->mutable_raw_data();
  if (from != to && x.nbytes() > 0) std::memcpy(to, from, x.nbytes());
}

inline void keep(const DenseTensor* x, DenseTensor* out) {
  if (x) keep(*x, out);
}

/// Returns element `i` of an array of any dtype, converted to C.
template <typename C>
C number_at(const DenseTensor& x, int64_t i = 0) {
  return visit_dtype(x.dtype(), [&]<typename T>() { return convert_value<C>(x.data<T>()[i]); });
}

/// Writes `value`, converted to out's dtype, to the first element of `out`.
template <typename C>
void set_number(DenseTensor* out, C value) {
  visit_dtype(out->dtype(),
              [&]<typename T>() { *out->mutable_data<T>() = convert_value<T>(value); });
}

}  // namespace phi
