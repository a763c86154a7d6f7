// The reduction that gradients of broadcasting operators share.
#pragma once

#include "api/generated/ops/reduce_as.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

/// Returns the sum of `grad` over the dims along which `argument` was broadcast.
inline Tensor sum_to_shape(const Tensor& grad, const Tensor& argument) {
  return grad.shape() == argument.shape() ? grad : reduce_as(grad, argument);
}

}  // namespace phi::composite
