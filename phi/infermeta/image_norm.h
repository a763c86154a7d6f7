// Shapes and dtypes of image normalisations, of affine_channel and of bilinear. Statistics have
// statistics_dtype. Scales and biases are [channels], of x's dtype or the statistics' dtype.
//
// Errors of all: InvalidArgument, which names the argument, its shape and dtype, and what is
// accepted.
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
/// (y, mean, variance); mean and variance are [images, groups]. `groups` must divide the number of
/// channels.
std::tuple<TensorMeta, TensorMeta, TensorMeta> GroupNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon, int groups,
                                                                  const std::string& data_format);
/// (y, saved_mean, saved_variance); both statistics are [images, channels].
std::tuple<TensorMeta, TensorMeta, TensorMeta> InstanceNormInferMeta(const TensorMeta& x,
                                                                     const TensorMeta* scale,
                                                                     const TensorMeta* bias,
                                                                     float epsilon);
TensorMeta AffineChannelInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                  const TensorMeta& bias, const std::string& data_layout);
/// u has the extent of `dim`; v has the product of the other extents.
TensorMeta SpectralNormInferMeta(const TensorMeta& weight, const TensorMeta& u, const TensorMeta& v,
                                 int dim, int power_iters);

/// [n, k] for x [n, i], y [n, j], weight [k, i, j] and bias [1, k].
TensorMeta BilinearInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight,
                             const TensorMeta* bias);
std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> BilinearGradInferMeta(
    const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight, const TensorMeta* bias);

/// Whether batch_norm normalises by the statistics of the batch rather than the running ones.
inline bool uses_batch_statistics(bool is_test, bool use_global_stats, bool trainable_statistics) {
  return !use_global_stats && (!is_test || trainable_statistics);
}

}  // namespace phi
