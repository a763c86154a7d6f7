// Sharding rules of elementwise ops with two and three inputs other than plain arithmetic, and of
// comparisons with one result.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// The gradients of two inputs that broadcast: Partial(sum) over the mesh dims that split dims
/// along which the input was broadcast.
SpmdRule ElementwiseBinaryGradInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                        const TensorSpec& out_grad);
/// Three inputs that broadcast.
SpmdRule ElementwiseTernaryInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& z);
/// One result for all pairs of elements: Partial(all) where the tensors are split.
SpmdRule AllPairsInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// The same; tensors of different shapes have no pairs and stay whole.
SpmdRule EqualAllInferSpmd(const TensorSpec& x, const TensorSpec& y);

}  // namespace phi::distributed
