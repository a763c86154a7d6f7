// Checks and meaning of dropout's attributes, shared by all devices.
#pragma once

#include <string>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"

namespace phi {

/// The factor of the elements that dropout keeps. Errors: InvalidArgument for p outside [0, 1] or
/// an unknown mode.
inline double kept_factor(double p, bool is_test, const std::string& mode) {
  PHI_CHECK(p >= 0.0 && p <= 1.0,
            errors::InvalidArgument("p is {}, but a probability is in [0, 1].", p));
  const bool upscale = mode == "upscale_in_train";
  // Paddle's operator and its Python function name the second mode differently.
  PHI_CHECK(upscale || mode == "downgrade_in_infer" || mode == "downscale_in_infer",
            errors::InvalidArgument("mode is '{}', but it must be upscale_in_train or "
                                    "downscale_in_infer.",
                                    mode));
  if (is_test) return upscale ? 1.0 : 1.0 - p;
  // With p = 1 no element is kept. The factor only has to be finite.
  return upscale && p < 1.0 ? 1.0 / (1.0 - p) : 1.0;
}

/// Errors: InvalidArgument unless `seed` has one element of int32 or int64.
inline void check_seed_tensor(const DenseTensor& seed) {
  const DataType dtype = seed.dtype();
  PHI_CHECK(seed.numel() == 1 && (dtype == DataType::INT32 || dtype == DataType::INT64),
            errors::InvalidArgument("seed_tensor is {}, but it must hold one int32 or int64.",
                                    seed.meta().to_string()));
}

}  // namespace phi
