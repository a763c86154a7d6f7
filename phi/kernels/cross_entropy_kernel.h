// Softmax with cross entropy.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// softmax = softmax(input) along `axis`; loss = -sum(label * log softmax) for soft labels,
/// -log softmax[label] for hard ones, 0 where the label is `ignore_index`.
///
/// With use_softmax=false input holds probabilities already: softmax is a copy of it. The maximum
/// is always subtracted first, whatever numeric_stable_mode says.
///
/// Where the class dim is sharded, the ranks that share it combine the rows' maxima, sums and
/// label terms, so that loss is complete on each of them (Megatron-LM's vocabulary-parallel loss,
/// Shoeybi et al., 2019); a hard label is then replicated and holds global class numbers.
///
/// T in float, double, bfloat16, float16. Errors: InvalidArgument with the row and its label.
template <typename T>
void CrossEntropyWithSoftmaxKernel(const CpuContext& ctx, const DenseTensor& input,
                                   const DenseTensor& label, bool soft_label, bool use_softmax,
                                   bool numeric_stable_mode, int ignore_index, int axis,
                                   DenseTensor* softmax, DenseTensor* loss);

}  // namespace phi
