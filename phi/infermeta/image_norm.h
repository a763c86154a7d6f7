// Shapes and dtypes of normalisations of images, of affine_channel and of bilinear. Statistics have
// statistics_dtype; scales and biases are [channels], of x's dtype or that of statistics.
//
// Errors: InvalidArgument naming the argument, its shape and dtype, and what fits.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// (out, mean_out, variance_out, saved_mean, saved_variance)
std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta> BatchNormInferMeta(
    const TensorMeta& x, const TensorMeta& mean, const TensorMeta& variance,
    const TensorMeta* scale, const TensorMeta* bias, float epsilon, const std::string& data_format);
/// (y, mean, variance); the latter are [images, groups]. `groups` divides the channels.
std::tuple<TensorMeta, TensorMeta, TensorMeta> GroupNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon, int groups,
                                                                  const std::string& data_format);
/// (y, saved_mean, saved_variance); the latter are [images, channels].
std::tuple<TensorMeta, TensorMeta, TensorMeta> InstanceNormInferMeta(const TensorMeta& x,
                                                                     const TensorMeta* scale,
                                                                     const TensorMeta* bias,
                                                                     float epsilon);
TensorMeta AffineChannelInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                  const TensorMeta& bias, const std::string& data_layout);
/// u has the extent of `dim`, v the product of the others.
TensorMeta SpectralNormInferMeta(const TensorMeta& weight, const TensorMeta& u, const TensorMeta& v,
                                 int dim, int power_iters);

/// x [n, i], y [n, j], weight [k, i, j], bias [1, k]: [n, k].
TensorMeta BilinearInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight,
                             const TensorMeta* bias);
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> BilinearGradInferMeta(
    const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight, const TensorMeta* bias);

}  // namespace phi
