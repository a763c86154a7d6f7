// Which dtypes have gradients.
#pragma once

#include "phi/common/dtype.h"

namespace phi {

/// Floating and complex dtypes, as NumPy's np.inexact. The gradient of a complex tensor is that of
/// its real parts and, as imaginary parts, that of its imaginary parts.
constexpr bool is_inexact(DataType dtype) { return is_floating(dtype) || is_complex(dtype); }

using Inexact = join_t<Floats, Complexes>;

}  // namespace phi
