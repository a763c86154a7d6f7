// Sharding rules of normalisations and of cross entropy.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Normalises x over its dims from begin_norm_axis on, which must be whole; scale and bias have
/// these dims flattened. mean and variance have the dims before begin_norm_axis.
SpmdRule LayerNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float epsilon, int begin_norm_axis);
/// The dims before begin_norm_axis stay split. The gradients of scale and bias, which are sums over
/// them, are then partial.
SpmdRule LayerNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                const TensorSpec* bias, const TensorSpec& mean,
                                const TensorSpec& variance, const TensorSpec& out_grad,
                                int begin_norm_axis);
/// Normalises over the last dim.
SpmdRule RmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, float epsilon);
/// The same as LayerNormGradInferSpmd.
SpmdRule RmsNormGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                              const TensorSpec& invvar, const TensorSpec& out_grad);

/// Normalises x [n, c, ...] over all dims but the channels, so only the channels may be split. With
/// data_format N...C the channels come last. Outputs: out, mean_out, variance_out, saved_mean,
/// saved_variance, reserve_space.
SpmdRule BatchNormInferSpmd(const TensorSpec& x, const TensorSpec& mean, const TensorSpec& variance,
                            const TensorSpec* scale, const TensorSpec* bias, bool is_test,
                            float momentum, float epsilon, const std::string& data_format,
                            bool use_global_stats, bool trainable_statistics);
/// Normalises x [n, c, ...] over groups of channels: only the images may be split. Outputs: out,
/// mean and variance [n, groups].
SpmdRule GroupNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float epsilon, int groups, const std::string& data_format);
/// The gradients of scale and bias are Partial(sum) where the images are split.
SpmdRule GroupNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                const TensorSpec* bias, const TensorSpec& y, const TensorSpec& mean,
                                const TensorSpec& variance, const TensorSpec& y_grad, float epsilon,
                                int groups, const std::string& data_format);
/// Normalises each channel of each image of x [n, c, ...]: images and channels may be split.
/// Outputs: y, saved_mean and saved_variance [n, c].
SpmdRule InstanceNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                               float epsilon);
SpmdRule InstanceNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                   const TensorSpec* bias, const TensorSpec& saved_mean,
                                   const TensorSpec& saved_variance, const TensorSpec& y_grad,
                                   float epsilon);

/// Classes may be split if labels are indices, classes come last and use_softmax is true. The
/// kernel then combines over their mesh dims, so the loss is whole. Otherwise classes must be
/// whole.
SpmdRule CrossEntropyWithSoftmaxInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          bool soft_label, bool use_softmax,
                                          bool numeric_stable_mode, int ignore_index, int axis);
/// Index labels, classes last: the same as cross_entropy_with_softmax where classes may be split.
SpmdRule CSoftmaxWithCrossEntropyInferSpmd(const TensorSpec& logits, const TensorSpec& label,
                                           int64_t ignore_index, int rank, int nranks);
SpmdRule CSoftmaxWithCrossEntropyGradInferSpmd(const TensorSpec& softmax, const TensorSpec& label,
                                               const TensorSpec& loss_grad, int64_t ignore_index,
                                               int rank, int nranks);
/// The gradient of the logits is sharded like `softmax`, and label follows. Classes may be split if
/// the forward rule allows it.
SpmdRule CrossEntropyWithSoftmaxGradInferSpmd(const TensorSpec& label, const TensorSpec& softmax,
                                              const TensorSpec& loss_grad, bool soft_label,
                                              bool use_softmax, int axis);

}  // namespace phi::distributed
