// Shapes and dtypes of optimizer steps on lists of params, each checked like a single step
// (updates.h), and of loss scaling. Errors: InvalidArgument, also for lists of different lengths.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

using MetaList = std::vector<TensorMeta>;

/// learning_rate has one number, or one per param. There is one regularization per param, or none.
std::tuple<MetaList, MetaList, MetaList> MergedMomentumInferMeta(
    std::span<const TensorMeta> param, std::span<const TensorMeta> grad,
    std::span<const TensorMeta> velocity, std::span<const TensorMeta> learning_rate,
    std::span<const TensorMeta> master_param, const std::vector<std::string>& regularization_method,
    const std::vector<float>& regularization_coeff, bool multi_precision);

/// The lists of an AdamMetas (updates.h).
using MergedAdamMetas =
    std::tuple<MetaList, MetaList, MetaList, MetaList, MetaList, MetaList, MetaList>;
/// learning_rate has one number, or one per param.
MergedAdamMetas MergedAdamInferMeta(
    std::span<const TensorMeta> param, std::span<const TensorMeta> grad,
    std::span<const TensorMeta> learning_rate, std::span<const TensorMeta> moment1,
    std::span<const TensorMeta> moment2, std::span<const TensorMeta> moment2_max,
    std::span<const TensorMeta> beta1_pow, std::span<const TensorMeta> beta2_pow,
    std::span<const TensorMeta> master_param, bool multi_precision, bool amsgrad);
MergedAdamMetas FusedAdamInferMeta(
    std::span<const TensorMeta> params, std::span<const TensorMeta> grads,
    const TensorMeta& learning_rate, std::span<const TensorMeta> moments1,
    std::span<const TensorMeta> moments2, std::span<const TensorMeta> moments2_max,
    std::span<const TensorMeta> beta1_pows, std::span<const TensorMeta> beta2_pows,
    std::span<const TensorMeta> master_params, const TensorMeta* skip_update, bool multi_precision,
    bool amsgrad);

/// (out, found_infinite bool[1]). x has at least one tensor.
std::tuple<MetaList, TensorMeta> CheckFiniteAndUnscaleInferMeta(std::span<const TensorMeta> x,
                                                                const TensorMeta& scale);
/// (out, loss_scaling, out_good_steps, out_bad_steps)
std::tuple<MetaList, TensorMeta, TensorMeta, TensorMeta> UpdateLossScalingInferMeta(
    std::span<const TensorMeta> x, const TensorMeta& found_infinite,
    const TensorMeta& prev_loss_scaling, const TensorMeta& in_good_steps,
    const TensorMeta& in_bad_steps);
/// (stats int64[3], values float32[3])
std::tuple<TensorMeta, TensorMeta> CheckNumericsInferMeta(const TensorMeta& tensor);

}  // namespace phi
