// Shape and dtype inference of the gated linear unit.
#pragma once

#include "phi/core/meta.h"

namespace phi {

/// silu(x) * y with x's meta. Without y, x is split into two halves along its last tensor dim, and
/// the result has half of that extent. Errors: InvalidArgument if y's meta differs from x's, if the
/// extent is odd, or if x is not floating.
TensorMeta SwiGLUInferMeta(const TensorMeta& x, const TensorMeta* y);

}  // namespace phi
