// The numbers that each dtype can represent.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"

namespace phi {

/// The smallest and largest number of an integral dtype or bool.
std::pair<int64_t, int64_t> integral_range_of(DataType dtype);

/// Checks that `number`, the attribute `name`, can become elements of `dtype`. Integers and bool
/// accept numbers in their range and drop the fraction. Floats and the parts of complex numbers
/// accept numbers in their range, infinities and NaN. Errors: InvalidArgument for other numbers.
void check_held(const Scalar& number, DataType dtype, std::string_view name);

/// The attribute `name` as a count. Errors: those of check_held for int64.
int64_t count_of(const Scalar& number, std::string_view name);

}  // namespace phi
