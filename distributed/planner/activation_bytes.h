// Bytes of activations that a transformer layer keeps for its backward.
//
//   TransformerLayer layer{.sequence = 2048, .micro_batch = 1, .hidden = 12288, .heads = 96};
//   layer.tensor_parallel = 8;
//   layer.recompute = Recompute::kSelective;
//   96 * layer_activation_bytes(layer);   // 29.25 GiB
//
// Activations are in half precision; a dropout mask has one byte per element.
// Source: Korthikanti et al. 2022, "Reducing activation recomputation in large transformer models",
// table 2 and section 4.2.3.
#pragma once

#include <cstdint>

#include "distributed/planner/recompute.h"

namespace phi::distributed {

struct TransformerLayer {
  int64_t sequence = 0;
  int64_t micro_batch = 0;  // sequences per micro-batch
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t tensor_parallel = 1;     // ranks
  bool sequence_parallel = false;  // also split what tensor parallelism leaves whole
  Recompute recompute = Recompute::kNone;
};

/// Bytes per rank of one layer and one micro-batch. With full recomputation every rank keeps the
/// whole input of the layer. Errors: InvalidArgument that names the size below 1.
double layer_activation_bytes(const TransformerLayer& layer);

/// Bytes on the first pipeline stage, which holds most. Under 1F1B this is all `layers` of one
/// micro-batch for any number of stages p. With v > 1 chunks per stage (interleaved) it is 1 + (p -
/// 1) / (p v) times that. Errors: those of layer_activation_bytes, and InvalidArgument for layers,
/// stages or chunks below 1.
double first_stage_activation_bytes(const TransformerLayer& layer, int64_t layers, int64_t stages,
                                    int64_t chunks = 1);

}  // namespace phi::distributed
