// Rules of normalisations and of the loss.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x is normalised over its dims from begin_norm_axis on, which must be whole; scale and bias hold
/// these dims flattened. mean and variance have the dims before.
SpmdRule LayerNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float epsilon, int begin_norm_axis);
/// Splits of the dims before begin_norm_axis stay; the gradients of scale and bias, sums over these
/// dims, are then partial.
SpmdRule LayerNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                const TensorSpec* bias, const TensorSpec& mean,
                                const TensorSpec& variance, const TensorSpec& out_grad,
                                int begin_norm_axis);
/// Over the last dim.
SpmdRule RmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, float epsilon);
/// As LayerNormGradInferSpmd.
SpmdRule RmsNormGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                              const TensorSpec& invvar, const TensorSpec& out_grad);

/// Classes may be split where labels are indices, classes come last and the softmax is taken here:
/// the kernel combines over their mesh dims, so the loss is whole. Otherwise they must be whole.
SpmdRule CrossEntropyWithSoftmaxInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          bool soft_label, bool use_softmax,
                                          bool numeric_stable_mode, int ignore_index, int axis);
/// The gradient of the logits lies as `softmax` does; label follows. Classes are split where the
/// forward rule lets them be.
SpmdRule CrossEntropyWithSoftmaxGradInferSpmd(const TensorSpec& label, const TensorSpec& softmax,
                                              const TensorSpec& loss_grad, bool soft_label,
                                              bool use_softmax, int axis);

}  // namespace phi::distributed
