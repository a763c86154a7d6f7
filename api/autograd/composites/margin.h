// Losses with margins, composed of other operators.
#pragma once

#include <tuple>

#include "api/tensor/tensor.h"

namespace phi::composite {

/// Returns softmax [N, C] and loss [N, 1] of cosines `logits` [N, C] and `label` [N] or [N, 1],
/// int32 or int64. Both are returned for either value of return_softmax. The placements of logits
/// shard the classes. Errors: InvalidArgument for a ring of several ranks and for shapes that do
/// not fit.
std::tuple<Tensor, Tensor> margin_cross_entropy(const Tensor& logits, const Tensor& label,
                                                bool return_softmax, int ring_id, int rank,
                                                int nranks, float margin1, float margin2,
                                                float margin3, float scale);

}  // namespace phi::composite
