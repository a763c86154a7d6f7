// Shape and dtype inference of the gated linear unit.
#pragma once

#include "phi/core/meta.h"

namespace phi {

/// silu(x) * y, of x's meta. Without y, x is cut in two halves along its last tensor dim, which the
/// result has half of. Errors: InvalidArgument if y is not as x, if that extent is odd, or if x is
/// not floating.
TensorMeta SwiGLUInferMeta(const TensorMeta& x, const TensorMeta* y);

}  // namespace phi
