// The terms of Korthikanti et al. 2022, in units of sequence * micro_batch * hidden bytes.
#include "distributed/planner/activation_bytes.h"

#include <string_view>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

void check_size(std::string_view what, int64_t value) {
  PHI_CHECK(value >= 1,
            errors::InvalidArgument("activation bytes: {} is {}, must be >= 1.", what, value));
}

}  // namespace

double layer_activation_bytes(const TransformerLayer& layer) {
  check_size("sequence", layer.sequence);
  check_size("micro_batch", layer.micro_batch);
  check_size("hidden", layer.hidden);
  check_size("heads", layer.heads);
  check_size("tensor_parallel", layer.tensor_parallel);
  const auto s = static_cast<double>(layer.sequence);
  const auto h = static_cast<double>(layer.hidden);
  const auto t = static_cast<double>(layer.tensor_parallel);
  const double sbh = s * static_cast<double>(layer.micro_batch) * h;
  if (layer.recompute == Recompute::kFull) return 2 * sbh;
  // 10 for layer norms, dropouts and the inputs of both blocks; 24 inside attention and MLP.
  const double outside_blocks = layer.sequence_parallel ? 10 / t : 10;
  const double in_blocks = 24 / t;
  const double attention_core = layer.recompute == Recompute::kSelective
                                    ? 0
                                    : 5 * static_cast<double>(layer.heads) * s / (h * t);
  return sbh * (outside_blocks + in_blocks + attention_core);
}

double first_stage_activation_bytes(const TransformerLayer& layer, int64_t layers, int64_t stages,
                                    int64_t chunks) {
  check_size("layers", layers);
  check_size("stages", stages);
  check_size("chunks", chunks);
  const double all_layers = static_cast<double>(layers) * layer_activation_bytes(layer);
  if (chunks == 1) return all_layers;
  const auto p = static_cast<double>(stages);
  return all_layers * (1 + (p - 1) / (p * static_cast<double>(chunks)));
}

}  // namespace phi::distributed
