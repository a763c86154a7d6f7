// Conversion of elements while they are loaded.
#pragma once

#include <cstdint>

#include "phi/common/dtype.h"

namespace phi::distributed::checkpoint {

/// Equal, or both floating point.
bool convertible(DataType from, DataType to);

/// `n` elements, rounded to nearest as phi::cast does.
void convert(const void* in, DataType from, void* out, DataType to, int64_t n);

}  // namespace phi::distributed::checkpoint
