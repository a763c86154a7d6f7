// Rule of the matrix product.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x [..., m, k] (or [..., k, m] transposed) times y [..., k, n]; a 1-D operand is a vector of k.
/// Errors: InvalidArgument for a scalar, or a transposed vector.
SpmdRule MatmulInferSpmd(const TensorSpec& x, const TensorSpec& y, bool transpose_x,
                         bool transpose_y);

}  // namespace phi::distributed
