// Shape and dtype inference of softmax and the normalisation layers.
#include "phi/infermeta/normalisation.h"

#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/checks.h"

namespace phi {
namespace {

void check_norm_floating(const TensorMeta& x) {
  PHI_CHECK(is_floating(x.dtype),
            errors::InvalidArgument("x is {}, but it must be floating; cast it.", x.to_string()));
}

/// Paddle's limit.
constexpr float kLargestEpsilon = 1e-3f;

/// Checks that `weight` (scale or bias: `what`) has one number per normalised element.
void check_norm_weight(const TensorMeta& x, const TensorMeta& weight, std::string_view what,
                       int begin_norm_axis) {
  const int64_t count = x.dims.numel(begin_norm_axis, x.dims.ndim());
  PHI_CHECK(weight.dims.numel() == count,
            errors::InvalidArgument(
                "{} is {}, but x {} is normalised from tensor dim {} on, over {} elements; {} must "
                "be [{}].",
                what, weight.to_string(), x.to_string(), begin_norm_axis, count, what, count));
  PHI_CHECK(weight.dtype == x.dtype || weight.dtype == statistics_dtype(x.dtype),
            errors::InvalidArgument("{} is {} and x is {}: {} must be {} or {}; cast it.", what,
                                    weight.to_string(), x.to_string(), what, name_of(x.dtype),
                                    name_of(statistics_dtype(x.dtype))));
}

Dims leading_dims(const Dims& dims, int count) {
  Dims leading;
  for (int d = 0; d < count; ++d) leading.push_back(dims[d]);
  return leading;
}

}  // namespace

DataType statistics_dtype(DataType x) {
  return x == DataType::FLOAT16 || x == DataType::BFLOAT16 ? DataType::FLOAT32 : x;
}

TensorMeta SoftmaxInferMeta(const TensorMeta& x, int axis) {
  check_norm_floating(x);
  if (x.dims.ndim() == 0 && (axis == 0 || axis == -1)) return x;  // the softmax of one element is 1
  normalise_axis(axis, x.dims.ndim(), x.dims);
  return x;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> LayerNormInferMeta(const TensorMeta& x,
                                                                  const TensorMeta* scale,
                                                                  const TensorMeta* bias,
                                                                  float epsilon,
                                                                  int begin_norm_axis) {
  check_norm_floating(x);
  check_epsilon(epsilon);
  PHI_CHECK(epsilon <= kLargestEpsilon,
            errors::InvalidArgument("epsilon is {}, but it must be at most {}: it only prevents a "
                                    "division by zero, and a larger one would change results.",
                                    epsilon, kLargestEpsilon));
  PHI_CHECK(begin_norm_axis > 0 && begin_norm_axis < x.dims.ndim(),
            errors::InvalidArgument("begin_norm_axis is {}, but x is {}; it must be in [1, {}).",
                                    begin_norm_axis, x.to_string(), x.dims.ndim()));
  if (scale) check_norm_weight(x, *scale, "scale", begin_norm_axis);
  if (bias) check_norm_weight(x, *bias, "bias", begin_norm_axis);
  const TensorMeta statistics{leading_dims(x.dims, begin_norm_axis), statistics_dtype(x.dtype),
                              x.layout};
  return {x, statistics, statistics};
}

std::tuple<TensorMeta, TensorMeta> RmsNormInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                                    float epsilon) {
  check_norm_floating(x);
  check_epsilon(epsilon);
  PHI_CHECK(
      x.dims.ndim() > 0,
      errors::InvalidArgument("x is {}, but rms_norm needs at least 1 tensor dim.", x.to_string()));
  const int last = x.dims.ndim() - 1;
  check_norm_weight(x, scale, "scale", last);
  return {x, {leading_dims(x.dims, last), statistics_dtype(x.dtype), x.layout}};
}

}  // namespace phi
