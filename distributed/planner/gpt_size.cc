// The sums behind the published formulas: each term is one group of matmuls or weights.
#include "distributed/planner/gpt_size.h"

#include <string_view>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

double positive(std::string_view what, int64_t value) {
  PHI_CHECK(value >= 1, errors::InvalidArgument("gpt size: {} is {}, must be >= 1.", what, value));
  return static_cast<double>(value);
}

struct ForwardFlops {
  double layers = 0;
  double logits = 0;
};

ForwardFlops forward_flops(const GptShape& shape, int64_t batch) {
  const double tokens = positive("batch", batch) * positive("sequence", shape.sequence);
  const double h = positive("hidden", shape.hidden);
  const auto s = static_cast<double>(shape.sequence);
  // Per token and layer: 24 h^2 in the four projections and the MLP, 4 s h in the attention core.
  const double layer = tokens * (24 * h * h + 4 * s * h);
  return {positive("layers", shape.layers) * layer,
          2 * tokens * h * positive("vocabulary", shape.vocabulary)};
}

}  // namespace

double gpt_parameters(const GptShape& shape) {
  const double h = positive("hidden", shape.hidden);
  return positive("layers", shape.layers) * (12 * h * h + 13 * h) +
         (positive("vocabulary", shape.vocabulary) + positive("sequence", shape.sequence)) * h;
}

double gpt_model_flops(const GptShape& shape, int64_t batch) {
  const auto [layers, logits] = forward_flops(shape, batch);
  return 3 * (layers + logits);
}

double gpt_recompute_flops(const GptShape& shape, int64_t batch) {
  const auto [layers, logits] = forward_flops(shape, batch);
  return 4 * layers + 3 * logits;
}

}  // namespace phi::distributed
