// Shape and dtype inference of normalisations of images, of affine_channel and of bilinear.
#include "phi/infermeta/image_norm.h"

#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/checks.h"
#include "phi/infermeta/normalisation.h"

namespace phi {
namespace {

void check_norm_image(const TensorMeta& x, int least_ndim) {
  PHI_CHECK(is_floating(x.dtype) && x.dims.ndim() >= least_ndim,
            errors::InvalidArgument("x is {}, but it must be floating and have at least {} tensor "
                                    "dims: images, channels and the dims of an image.",
                                    x.to_string(), least_ndim));
}

void check_format(const std::string& format) {
  for (const char* known : {"NCHW", "NHWC", "NCDHW", "NDHWC", "NCL", "NLC", "NC"})
    if (format == known) return;
  throw errors::InvalidArgument(
      "data_format is '{}'; use NCHW or NHWC, and the same of one or three dims.", format);
}

TensorMeta per_channel(const TensorMeta& x, int64_t channels) {
  return {Dims{channels}, statistics_dtype(x.dtype), x.layout};
}

/// Checks that `weight`, if present, has one number per channel.
void check_channels(const TensorMeta& x, int64_t channels, const TensorMeta* weight,
                    std::string_view name) {
  if (!weight) return;
  PHI_CHECK(weight->dims == Dims{channels},
            errors::InvalidArgument("{} is {}, but x {} has {} channels; {} must be [{}].", name,
                                    weight->to_string(), x.to_string(), channels, name, channels));
  PHI_CHECK(weight->dtype == x.dtype || weight->dtype == statistics_dtype(x.dtype),
            errors::InvalidArgument("{} is {} for x {}: it must have dtype {} or {}; cast it.",
                                    name, weight->to_string(), x.to_string(), name_of(x.dtype),
                                    name_of(statistics_dtype(x.dtype))));
}

int64_t channels_of(const TensorMeta& x, const std::string& format) {
  return format.ends_with('C') ? x.dims.back() : x.dims[1];
}

}  // namespace

std::tuple<TensorMeta, TensorMeta, TensorMeta, TensorMeta, TensorMeta> BatchNormInferMeta(
    const TensorMeta& x, const TensorMeta& mean, const TensorMeta& variance,
    const TensorMeta* scale, const TensorMeta* bias, float epsilon,
    const std::string& data_format) {
  check_norm_image(x, 2);
  check_epsilon(epsilon);
  check_format(data_format);
  const int64_t channels = channels_of(x, data_format);
  check_channels(x, channels, &mean, "mean");
  check_channels(x, channels, &variance, "variance");
  check_channels(x, channels, scale, "scale");
  check_channels(x, channels, bias, "bias");
  const TensorMeta saved = per_channel(x, channels);
  return {x, mean, variance, saved, saved};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> GroupNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon, int groups,
                                                                  const std::string& data_format) {
  check_norm_image(x, 2);
  check_epsilon(epsilon);
  check_format(data_format);
  const int64_t channels = channels_of(x, data_format);
  PHI_CHECK(groups > 0 && channels % groups == 0,
            errors::InvalidArgument("groups is {}, but x {} has {} channels, which it must divide.",
                                    groups, x.to_string(), channels));
  check_channels(x, channels, scale, "scale");
  check_channels(x, channels, bias, "bias");
  const TensorMeta statistics{Dims{x.dims[0], groups}, statistics_dtype(x.dtype), x.layout};
  return {x, statistics, statistics};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> InstanceNormInferMeta(const TensorMeta& x,
                                                                     const TensorMeta* scale,
                                                                     const TensorMeta* bias,
                                                                     float epsilon) {
  check_norm_image(x, 2);
  check_epsilon(epsilon);
  check_channels(x, x.dims[1], scale, "scale");
  check_channels(x, x.dims[1], bias, "bias");
  const TensorMeta statistics{Dims{x.dims[0], x.dims[1]}, statistics_dtype(x.dtype), x.layout};
  return {x, statistics, statistics};
}

TensorMeta AffineChannelInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                  const TensorMeta& bias, const std::string& data_layout) {
  check_norm_image(x, 2);
  PHI_CHECK(data_layout == "NCHW" || data_layout == "NHWC" || data_layout == "AnyLayout",
            errors::InvalidArgument("data_layout is '{}' for x {}, but it must be NCHW or NHWC.",
                                    data_layout, x.to_string()));
  const int64_t channels = data_layout == "NCHW" ? x.dims[1] : x.dims.back();
  check_channels(x, channels, &scale, "scale");
  check_channels(x, channels, &bias, "bias");
  return x;
}

TensorMeta SpectralNormInferMeta(const TensorMeta& weight, const TensorMeta& u, const TensorMeta& v,
                                 int dim, int power_iters) {
  PHI_CHECK(is_floating(weight.dtype) && weight.dims.ndim() >= 2,
            errors::InvalidArgument("weight is {}, but it must be floating and have at least 2 "
                                    "tensor dims.",
                                    weight.to_string()));
  PHI_CHECK(power_iters >= 0, errors::InvalidArgument(
                                  "power_iters is {}, but it must not be negative.", power_iters));
  PHI_CHECK(
      dim == 0 || dim == 1,
      errors::InvalidArgument("dim is {}, but outputs of a layer are tensor dim 0 or 1 of its "
                              "weight.",
                              dim));
  const int64_t rows = weight.dims[dim];
  const int64_t columns = rows > 0 ? weight.dims.numel() / rows : 0;
  const auto check = [&](const TensorMeta& vector, std::string_view name, int64_t size) {
    PHI_CHECK(vector.dims.numel() == size && vector.dtype == weight.dtype,
              errors::InvalidArgument("{} is {}, but weight {} as a matrix along dim {} is [{}, "
                                      "{}]; {} must have {} elements of its dtype.",
                                      name, vector.to_string(), weight.to_string(), dim, rows,
                                      columns, name, size));
  };
  check(u, "u", rows);
  check(v, "v", columns);
  return weight;
}

TensorMeta BilinearInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight,
                             const TensorMeta* bias) {
  const bool fits = is_floating(x.dtype) && x.dims.ndim() == 2 && y.dims.ndim() == 2 &&
                    weight.dims.ndim() == 3 && x.dims[0] == y.dims[0] &&
                    x.dims[1] == weight.dims[1] && y.dims[1] == weight.dims[2] &&
                    x.dtype == y.dtype && x.dtype == weight.dtype;
  PHI_CHECK(fits, errors::InvalidArgument(
                      "x is {}, y is {} and weight is {}: they must be [n, i], [n, j] and [k, i, "
                      "j], of one floating dtype.",
                      x.to_string(), y.to_string(), weight.to_string()));
  const int64_t outputs = weight.dims[0];
  PHI_CHECK(!bias || (bias->dims == Dims{1, outputs} && bias->dtype == x.dtype),
            errors::InvalidArgument("bias is {}, but weight is {}; bias must be [1, {}], of its "
                                    "dtype.",
                                    bias->to_string(), weight.to_string(), outputs));
  return {Dims{x.dims[0], outputs}, x.dtype, x.layout};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta, std::optional<TensorMeta>> BilinearGradInferMeta(
    const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight, const TensorMeta* bias) {
  return {x, y, weight, bias ? std::optional(*bias) : std::nullopt};
}

}  // namespace phi
