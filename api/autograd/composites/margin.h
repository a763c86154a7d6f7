// Losses with margins, made of other operators.
#pragma once

#include <tuple>

#include "api/tensor/tensor.h"

namespace phi::composite {

/// Gives softmax [N, C] and loss [N, 1] of cosines [N, C] and label, int32 or int64 [N] or [N, 1].
/// Both are there whatever
/// return_softmax says. Classes are split by the placement of logits. Errors: InvalidArgument for a
/// ring of several ranks and for shapes that do not fit.
std::tuple<Tensor, Tensor> margin_cross_entropy(const Tensor& logits, const Tensor& label,
                                                bool return_softmax, int ring_id, int rank,
                                                int nranks, float margin1, float margin2,
                                                float margin3, float scale);

}  // namespace phi::composite
