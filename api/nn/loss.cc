// Loss functions in terms of operators.
#include "api/nn/loss.h"

#include <tuple>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/maximum.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/not_equal.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/subtract.h"
#include "api/generated/ops/sum.h"

namespace phi::nn {
namespace {

constexpr int64_t kIgnoredLabel = -100;  // of cross_entropy_with_softmax

// The ratio of all labels to counted labels; the divisor is at least 1.
Tensor labels_by_counted(const Tensor& labels) {
  constexpr DataType kExact = DataType::FLOAT64;
  const Tensor counts = not_equal(labels, full({}, kIgnoredLabel, labels.dtype()));
  const Tensor counted = sum(cast(counts, kExact), {}, kExact, false);
  return divide(full({}, labels.numel(), kExact), maximum(counted, full({}, 1, kExact)));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  // Ignored labels contribute losses of 0. Without ignored labels the factor is 1, which is exact.
  const Tensor losses = std::get<1>(cross_entropy_with_softmax(logits, labels));
  return multiply(mean(losses), cast(labels_by_counted(labels), losses.dtype()));
}

Tensor mean_squared_error(const Tensor& x, const Tensor& target) {
  return mean(square(subtract(x, target)));
}

}  // namespace phi::nn
