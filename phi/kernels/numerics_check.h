// What check_numerics says of a tensor that is not finite, on each device.
#pragma once

#include <cstdint>
#include <string>

#include "phi/common/errors.h"

namespace phi {

/// Errors: PreconditionNotMet at level 0 if something is not finite.
inline void check_numerics(int level, const std::string& op_type, const std::string& var_name,
                           int64_t nans, int64_t infinities) {
  PHI_CHECK(
      level > 0 || nans + infinities == 0,
      errors::PreconditionNotMet("tensor '{}' of op '{}' has {} NaN and {} infinities among its "
                                 "elements; a "
                                 "check_nan_inf_level above 0 only counts them.",
                                 var_name, op_type, nans, infinities));
}

}  // namespace phi
