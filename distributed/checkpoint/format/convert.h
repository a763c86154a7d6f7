// Conversion of elements during a load.
#pragma once

#include <cstdint>

#include "phi/common/dtype.h"

namespace phi::distributed::checkpoint {

/// Whether the dtypes are equal, or both floating point.
bool convertible(DataType from, DataType to);

/// Converts `n` elements, rounded to nearest like phi::cast.
void convert(const void* in, DataType from, void* out, DataType to, int64_t n);

}  // namespace phi::distributed::checkpoint
