// Loss functions. Each returns a mean over the batch, 0-D float32.
#pragma once

#include "api/tensor/tensor.h"

namespace phi::nn {

/// The mean of -log softmax(logits)[label] over the labels other than -100, which are ignored; 0 if
/// all are -100. logits: [..,classes] float32; labels: i64[..,1] with the same leading extents. On
/// a mesh it is the mean over all ranks' labels. Each micro-batch has its own mean.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels);
/// The mean of (x - target)^2.
Tensor mean_squared_error(const Tensor& x, const Tensor& target);

}  // namespace phi::nn
