// Losses: means over a batch, 0-D float32.
#pragma once

#include "api/tensor/tensor.h"

namespace phi::nn {

/// The mean of -log softmax(logits)[label] over the labels that are not -100, which are ignored; 0
/// where all are. logits [..,classes] float32, labels i64[..,1] of the same other extents. On a
/// mesh the mean is that of all ranks' labels; of micro-batches each has a mean of its own.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels);
/// The mean of (x - target)^2.
Tensor mean_squared_error(const Tensor& x, const Tensor& target);

}  // namespace phi::nn
