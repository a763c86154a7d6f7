// Shapes and dtypes of ops on one tensor, of activations with weights, and of complex numbers.
#include "phi/infermeta/unary.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

/// Whether the extents can be equal; an unknown one can be any.
bool may_have_extent(int64_t extent, int64_t wanted) { return extent < 0 || extent == wanted; }

bool has_numel(const Dims& dims, int64_t wanted) { return !dims.known() || dims.numel() == wanted; }

void check_prelu_channels(const TensorMeta& x, const TensorMeta& alpha,
                          const std::string& data_format) {
  PHI_CHECK(
      data_format == "NCHW" || data_format == "NHWC",
      errors::InvalidArgument("data_format is '{}', but it must be NCHW or NHWC.", data_format));
  PHI_CHECK(x.dims.ndim() > 1,
            errors::InvalidArgument("x is {}, but in mode 'channel' it must have a batch and a "
                                    "channel dim.",
                                    x.to_string()));
  const int64_t channels = data_format == "NCHW" ? x.dims[1] : x.dims.back();
  PHI_CHECK(channels < 0 || has_numel(alpha.dims, channels),
            errors::InvalidArgument("alpha is {} for x {}, but in mode 'channel' with {} it must "
                                    "have {} elements, one for each channel.",
                                    alpha.to_string(), x.to_string(), data_format, channels));
}

void check_prelu_elements(const TensorMeta& x, const TensorMeta& alpha) {
  bool fits =
      x.dims.ndim() > 0 && alpha.dims.ndim() == x.dims.ndim() && may_have_extent(alpha.dims[0], 1);
  for (int d = 1; fits && d < x.dims.ndim(); ++d) {
    fits = x.dims[d] < 0 || may_have_extent(alpha.dims[d], x.dims[d]);
  }
  PHI_CHECK(fits,
            errors::InvalidArgument("alpha is {} for x {}, but in mode 'element' it must have "
                                    "x's shape with 1 in place of the first extent.",
                                    alpha.to_string(), x.to_string()));
}

TensorMeta with_dtype(TensorMeta x, DataType dtype) {
  x.dtype = dtype;
  return x;
}

bool is_part(DataType dtype) { return dtype == DataType::FLOAT32 || dtype == DataType::FLOAT64; }

void check_unary_complex(const TensorMeta& x) {
  PHI_CHECK(
      is_complex(x.dtype),
      errors::InvalidArgument(
          "x is {}, but it must be complex; real numbers have no imaginary part.", x.to_string()));
}

}  // namespace

TensorMeta FloatUnaryInferMeta(const TensorMeta& x) {
  return with_dtype(x, is_integral(x.dtype) ? DataType::FLOAT32 : x.dtype);
}

TensorMeta PolygammaInferMeta(const TensorMeta& x, int n) {
  PHI_CHECK(n >= 0, errors::InvalidArgument(
                        "n is {} for x {}, but it is the order of a derivative: use 0 or more.", n,
                        x.to_string()));
  return FloatUnaryInferMeta(x);
}

TensorMeta ClipInferMeta(const TensorMeta& x, const Scalar& min, const Scalar& max) {
  PHI_CHECK(min.to<double>() <= max.to<double>(),
            errors::InvalidArgument("min is {} and max is {} for x {}: min must not be above max, "
                                    "nor one of them NaN; swap or replace them.",
                                    min.to_string(), max.to_string(), x.to_string()));
  return x;
}

TensorMeta IncrementInferMeta(const TensorMeta& x) {
  PHI_CHECK(has_numel(x.dims, 1),
            errors::InvalidArgument(
                "x is {}, but increment needs a tensor of one element; use add for others.",
                x.to_string()));
  return x;
}

TensorMeta LabelSmoothInferMeta(const TensorMeta& label, const TensorMeta* prior_dist) {
  PHI_CHECK(label.dims.ndim() > 0,
            errors::InvalidArgument("label is {}, but its last dim must hold the classes.",
                                    label.to_string()));
  if (!prior_dist) return label;
  const Dims& prior = prior_dist->dims;
  const bool fits = prior.ndim() > 0 && prior.ndim() <= label.dims.ndim() &&
                    prior.numel() == prior.back() &&
                    (label.dims.back() < 0 || may_have_extent(prior.back(), label.dims.back()));
  PHI_CHECK(fits && prior_dist->dtype == label.dtype,
            errors::InvalidArgument("prior_dist is {} for label {}, but it must have one number of "
                                    "label's dtype for each class, in its last dim.",
                                    prior_dist->to_string(), label.to_string()));
  return label;
}

TensorMeta MaxOutInferMeta(const TensorMeta& x, int groups, int axis) {
  PHI_CHECK(
      x.dims.ndim() == 4,
      errors::InvalidArgument(
          "x is {}, but maxout expects [n, c, h, w] or [n, h, w, c]; reshape it.", x.to_string()));
  const int d = normalise_axis(axis, x.dims.ndim(), x.dims);
  PHI_CHECK(
      groups > 1 && (x.dims[d] < 0 || x.dims[d] % groups == 0),
      errors::InvalidArgument("groups is {} for x {} along axis {}, but it must be more than 1 "
                              "and divide that extent.",
                              groups, x.to_string(), axis));
  TensorMeta out = x;
  if (x.dims[d] > 0) out.dims[d] = x.dims[d] / groups;
  return out;
}

TensorMeta PReluInferMeta(const TensorMeta& x, const TensorMeta& alpha,
                          const std::string& data_format, const std::string& mode) {
  PHI_CHECK(
      alpha.dtype == x.dtype,
      errors::InvalidArgument("x is {} and alpha is {}: their dtypes differ; cast one of them.",
                              x.to_string(), alpha.to_string()));
  if (mode == "channel") {
    check_prelu_channels(x, alpha, data_format);
  } else if (mode == "element") {
    check_prelu_elements(x, alpha);
  } else {
    PHI_CHECK(mode == "all", errors::InvalidArgument(
                                 "mode is '{}', but it must be all, channel or element.", mode));
    PHI_CHECK(has_numel(alpha.dims, 1),
              errors::InvalidArgument("alpha is {}, but in mode 'all' it must have one element.",
                                      alpha.to_string()));
  }
  return x;
}

std::tuple<TensorMeta, TensorMeta> RReluInferMeta(const TensorMeta& x, float lower, float upper) {
  PHI_CHECK(
      lower >= 0.0f && lower <= upper && upper <= 1.0f,
      errors::InvalidArgument("lower is {} and upper is {} for x {}, but slopes are drawn from "
                              "0 <= lower <= upper <= 1.",
                              lower, upper, x.to_string()));
  return {x, x};
}

TensorMeta ModulusInferMeta(const TensorMeta& x) { return with_dtype(x, real_part_of(x.dtype)); }

TensorMeta RealPartInferMeta(const TensorMeta& x) {
  check_unary_complex(x);
  return with_dtype(x, real_part_of(x.dtype));
}

TensorMeta ComplexInferMeta(const TensorMeta& real, const TensorMeta& imag) {
  PHI_CHECK(real.dtype == imag.dtype && is_part(real.dtype),
            errors::InvalidArgument("real is {} and imag is {}, but both must be float32 or both "
                                    "float64; cast them.",
                                    real.to_string(), imag.to_string()));
  return {broadcast_dims(real.dims, imag.dims, "real", "imag"), complex_of(real.dtype),
          real.layout};
}

TensorMeta AsRealInferMeta(const TensorMeta& x) {
  check_unary_complex(x);
  TensorMeta out = with_dtype(x, real_part_of(x.dtype));
  out.dims.push_back(2);
  return out;
}

TensorMeta AsComplexInferMeta(const TensorMeta& x) {
  PHI_CHECK(x.dims.ndim() > 0 && may_have_extent(x.dims.back(), 2) && is_part(x.dtype),
            errors::InvalidArgument("x is {}, but it must be float32 or float64 with a last dim of "
                                    "size 2, the real and the imaginary part.",
                                    x.to_string()));
  Dims dims;
  for (int d = 0; d + 1 < x.dims.ndim(); ++d) dims.push_back(x.dims[d]);
  return {dims, complex_of(x.dtype), x.layout};
}

}  // namespace phi
