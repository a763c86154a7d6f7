// Gradient of softmax with cross entropy.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// With use_softmax, `softmax` holds softmax(input) and
///   | input_grad = (softmax * sum(label) - label) * loss_grad,
/// where a hard label is one-hot and the sum goes over the classes. Without it `softmax` is a copy
/// of the probabilities given, and input_grad = -label / softmax * loss_grad. Where a class weighs
/// 0 the quotient counts as 0; rows whose hard label is `ignore_index` are 0.
///
/// Hard labels have the class dim as 1 or not at all, and hold global class numbers. The classes
/// may be sharded: each rank makes its part.
/// T in float, double, bfloat16, float16. Errors: InvalidArgument with the row and its label.
template <typename T>
void CrossEntropyWithSoftmaxGradKernel(const CpuContext& ctx, const DenseTensor& label,
                                       const DenseTensor& softmax, const DenseTensor& loss_grad,
                                       bool soft_label, bool use_softmax, int ignore_index,
                                       int axis, DenseTensor* input_grad);

}  // namespace phi
