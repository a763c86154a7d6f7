// Rules of normalisations and of the loss.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x is normalised over its dims from begin_norm_axis on, which must be whole; scale and bias hold
/// these dims flattened. mean and variance have the dims before.
SpmdRule LayerNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float epsilon, int begin_norm_axis);
/// Over the last dim.
SpmdRule RmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, float epsilon);

/// Classes may be split where labels are indices, classes come last and the softmax is taken here:
/// the kernel combines over their mesh dims, so the loss is whole. Otherwise they must be whole.
SpmdRule CrossEntropyWithSoftmaxInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          bool soft_label, bool use_softmax,
                                          bool numeric_stable_mode, int ignore_index, int axis);

}  // namespace phi::distributed
