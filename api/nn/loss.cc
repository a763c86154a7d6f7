// Losses in terms of operators.
#include "api/nn/loss.h"

#include <tuple>

#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/subtract.h"

namespace phi::nn {

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  return mean(std::get<1>(cross_entropy_with_softmax(logits, labels)));
}

Tensor mean_squared_error(const Tensor& x, const Tensor& target) {
  return mean(square(subtract(x, target)));
}

}  // namespace phi::nn
