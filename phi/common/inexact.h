// The dtypes that have gradients.
#pragma once

#include "phi/common/dtype.h"

namespace phi {

/// Whether a dtype is floating or complex (NumPy's np.inexact). The real part of a complex tensor's
/// gradient is the gradient of its real part; the imaginary part is that of its imaginary part.
constexpr bool is_inexact(DataType dtype) { return is_floating(dtype) || is_complex(dtype); }

using Inexact = join_t<Floats, Complexes>;

}  // namespace phi
