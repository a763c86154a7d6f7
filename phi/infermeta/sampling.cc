// Shapes and dtypes of ops that draw from distributions.
#include "phi/infermeta/sampling.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/creation.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

void check_sampling_floating(const TensorMeta& x, std::string_view name) {
  PHI_CHECK(is_floating(x.dtype),
            errors::InvalidArgument("{} is {}, but parameters of a distribution are floating; cast "
                                    "it.",
                                    name, x.to_string()));
}

/// The smallest and largest number that can be drawn.
std::pair<int64_t, int64_t> drawn_range_of(DataType dtype) {
  PHI_CHECK(
      is_integral(dtype),
      errors::InvalidArgument("dtype is {}, but integers are drawn; use an integer dtype and cast.",
                              name_of(dtype)));
  return integral_range_of(dtype);
}

}  // namespace

TensorMeta SampledInferMeta(const TensorMeta& x) {
  check_sampling_floating(x, "x");
  return x;
}

TensorMeta BinomialInferMeta(const TensorMeta& count, const TensorMeta& prob) {
  check_sampling_floating(prob, "prob");
  PHI_CHECK(
      count.dtype == DataType::INT32 || count.dtype == DataType::INT64 || is_floating(count.dtype),
      errors::InvalidArgument("count is {}, but numbers of trials are int32, int64 or "
                              "floating; cast it.",
                              count.to_string()));
  return {broadcast_dims(count.dims, prob.dims, "count", "prob"), DataType::INT64, prob.layout};
}

TensorMeta DirichletInferMeta(const TensorMeta& alpha) {
  check_sampling_floating(alpha, "alpha");
  PHI_CHECK(alpha.dims.ndim() > 0,
            errors::InvalidArgument("alpha is {}, but its last tensor dim must be the parameters "
                                    "of a draw; reshape it to [1].",
                                    alpha.to_string()));
  return alpha;
}

TensorMeta ExponentialInferMeta(const TensorMeta& x, float lam) {
  check_sampling_floating(x, "x");
  PHI_CHECK(lam > 0, errors::InvalidArgument("lam is {}, but a rate is above 0.", lam));
  return x;
}

TensorMeta MultinomialInferMeta(const TensorMeta& x, const Scalar& num_samples, bool replacement) {
  check_sampling_floating(x, "x");
  const int ndim = x.dims.ndim();
  PHI_CHECK(ndim == 1 || ndim == 2,
            errors::InvalidArgument("x is {}, but weights of classes are [classes] or "
                                    "[rows, classes]; reshape it.",
                                    x.to_string()));
  const int64_t samples = count_of(num_samples, "num_samples");
  const int64_t classes = x.dims.back();
  PHI_CHECK(samples > 0 && (replacement || classes == kUnknownDim || samples <= classes),
            errors::InvalidArgument("num_samples is {} of x {}, but it must be at least 1, and "
                                    "without replacement at most the number of classes.",
                                    samples, x.to_string()));
  TensorMeta out{x.dims, DataType::INT64, x.layout};
  out.dims[ndim - 1] = samples;
  return out;
}

TensorMeta RandintInferMeta(int low, int high, const IntArray& shape, DataType dtype) {
  const auto [lowest, highest] = drawn_range_of(dtype);
  PHI_CHECK(
      low < high && low >= lowest && high - int64_t{1} <= highest,
      errors::InvalidArgument("low is {} and high is {}: numbers from low to high - 1 are drawn: "
                              "there must be at least one, and they must fit in dtype {}.",
                              low, high, name_of(dtype)));
  return CreateInferMeta(shape, dtype);
}

TensorMeta RandpermInferMeta(int n, DataType dtype) {
  const bool holds = is_floating(dtype) || n - int64_t{1} <= drawn_range_of(dtype).second;
  PHI_CHECK(n >= 0 && holds,
            errors::InvalidArgument("n is {}, but 0 to n - 1 are permuted: it must be at least 0, "
                                    "and they must fit in dtype {}.",
                                    n, name_of(dtype)));
  return CreateInferMeta({n}, dtype);
}

TensorMeta TruncatedGaussianInferMeta(const std::vector<int>& shape, float std, float a, float b,
                                      DataType dtype) {
  PHI_CHECK(
      is_floating(dtype),
      errors::InvalidArgument("dtype is {}, but normal values are floating; use float32 and cast.",
                              name_of(dtype)));
  PHI_CHECK(a < b && std >= 0,
            errors::InvalidArgument("std is {}, a is {} and b is {}: std must be at least 0, and a "
                                    "below b.",
                                    std, a, b));
  return CreateInferMeta(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
}

std::tuple<TensorMeta, TensorMeta> ClassCenterSampleInferMeta(const TensorMeta& label,
                                                              int num_classes, int num_samples,
                                                              int ring_id, int rank, int nranks) {
  const bool counts = label.dtype == DataType::INT32 || label.dtype == DataType::INT64;
  PHI_CHECK(counts && label.dims.ndim() == 1,
            errors::InvalidArgument("label is {}, but it must be int32 or int64 [N].",
                                    label.to_string()));
  PHI_CHECK(
      num_samples > 0 && num_samples <= num_classes,
      errors::InvalidArgument("num_samples is {} and num_classes {}: draw at least one class, "
                              "and no more than there are.",
                              num_samples, num_classes));
  PHI_CHECK(ring_id == 0 && rank == 0 && nranks == 1,
            errors::InvalidArgument("ring_id is {}, rank {} and nranks {}, but every rank draws "
                                    "the same classes here; omit them.",
                                    ring_id, rank, nranks));
  return {label, {{kUnknownDim}, label.dtype, label.layout}};
}

}  // namespace phi
