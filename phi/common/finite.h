// Whether numbers in memory are finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phi/common/dtype.h"

namespace phi {

/// The position, counted in elements, of the first one that is infinite or not a number; -1 if
/// there is none, as in arrays of integers. `bytes`: whole elements of `dtype`, aligned to them.
int64_t first_nonfinite(std::span<const std::byte> bytes, DataType dtype);

}  // namespace phi
