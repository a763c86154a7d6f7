// Rules of elementwise ops of two and three inputs beyond plain arithmetic, and of comparisons that
// give one answer.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// The gradients of two inputs that broadcast: Partial(sum) where an input was.
SpmdRule ElementwiseBinaryGradInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                        const TensorSpec& out_grad);
/// Three inputs that broadcast.
SpmdRule ElementwiseTernaryInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& z);
/// One answer about all pairs of elements: Partial(all) where they are split.
SpmdRule AllPairsInferSpmd(const TensorSpec& x, const TensorSpec& y);
/// The same; tensors of two shapes have no pairs, and stay whole.
SpmdRule EqualAllInferSpmd(const TensorSpec& x, const TensorSpec& y);

}  // namespace phi::distributed
