// The error of check_numerics for tensors with NaN or infinities, shared by all devices.
#pragma once

#include <cstdint>
#include <string>

#include "phi/common/errors.h"

namespace phi {

/// Errors: PreconditionNotMet if `level` is 0 or less and `nans` + `infinities` is not 0.
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
