// Checks shared by several families of shape functions.
#pragma once

#include "phi/common/errors.h"
#include "phi/core/meta.h"

namespace phi {

/// Whether x has a dtype of indices and lengths: int32 or int64.
inline bool is_index(const TensorMeta& x) {
  return x.dtype == DataType::INT32 || x.dtype == DataType::INT64;
}

/// Checks the epsilon of a normalisation. Errors: InvalidArgument if it is negative or NaN.
inline void check_epsilon(float epsilon) {
  PHI_CHECK(epsilon >= 0.0f,
            errors::InvalidArgument("epsilon is {}, but it must not be negative.", epsilon));
}

}  // namespace phi
