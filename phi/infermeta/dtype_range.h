// Which numbers a dtype holds.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "phi/common/dtype.h"
#include "phi/core/attribute.h"

namespace phi {

/// The lowest and the highest number of an integral dtype or bool.
std::pair<int64_t, int64_t> integral_range_of(DataType dtype);

/// Of a call that makes elements of `dtype` from `number`, its attribute `name`. Integers and bool
/// hold what is in their range without its fraction; floats and the parts of complex numbers what
/// is in their range, infinities and NaN. Errors: InvalidArgument for other numbers.
void check_held(const Scalar& number, DataType dtype, std::string_view name);

/// A number of things, attribute `name`. Errors: those of check_held for int64.
int64_t count_of(const Scalar& number, std::string_view name);

}  // namespace phi
