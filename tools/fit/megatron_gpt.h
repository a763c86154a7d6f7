// What Megatron-DeepSpeed launches in a training step of a GPT: fp16, 1F1B, each layer recomputed,
// attention not fused, gradients all-reduced at once after the last micro-batch.
//
// Launches are those of a layer in Megatron-LM (github.com/NVIDIA/Megatron-LM, release 3.0:
// megatron/model/transformer.py, fused_softmax.py, fused_bias_gelu.py, and
// megatron/mpu/cross_entropy.py), and optimizer and gradients those of apex' FusedAdam on fp32
// master weights. Their bytes and flops follow from shapes; nothing here is measured.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "api/simulation/composed_step.h"
#include "tools/fit/measured_run.h"

namespace phi::fit {

/// Composes runs. Runs of equal sizes share their bodies.
class MegatronGpt {
 public:
  explicit MegatronGpt(int64_t vocab) : vocab_(vocab) {}

  /// Rank = (stage * dp + replica) * tp + shard, as in Megatron.
  simulation::ComposedStep compose(const MeasuredRun& run);
  /// A layer of the run on the ranks of its first shards.
  std::shared_ptr<const simulation::Body> layer(const MeasuredRun& run) {
    return body(Part::kLayer, run);
  }

 private:
  enum class Part : uint8_t { kEmbedding, kLayer, kHead };
  // Part, hidden, heads, sequence, micro-batch, tp.
  using Key = std::tuple<Part, int64_t, int64_t, int64_t, int64_t, int64_t>;

  std::shared_ptr<const simulation::Body> body(Part part, const MeasuredRun& run);

  int64_t vocab_;
  std::map<Key, std::shared_ptr<const simulation::Body>> bodies_;
};

}  // namespace phi::fit
