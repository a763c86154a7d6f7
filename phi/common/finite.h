// Finds infinite values and NaN in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phi/common/dtype.h"

namespace phi {

/// Returns the index of the first element that is infinite or NaN, or -1 if there is none. Always
/// returns -1 for integers, bool and complex dtypes. `bytes` consists of whole elements of `dtype`;
/// they need not be aligned.
int64_t first_nonfinite(std::span<const std::byte> bytes, DataType dtype);

}  // namespace phi
