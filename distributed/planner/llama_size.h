// The exact number of parameters of a Llama model, and the bytes of its model states on each rank.
//
//   const LlamaShape shape{.layers = 126, .hidden = 16384, .heads = 128, .kv_heads = 8,
//                          .ffn = 53248, .vocabulary = 128256};
//   llama_parameters(shape);                                        // 405,853,388,800
//   const LlamaLayout layout{.dp = 128, .pp = 16, .tp = 8, .zero = ZeroStage::kOptimizer};
//   llama_rank_states(shape, layout, /*stage=*/9).optimizer;        // 298,868,736 bytes
//
// The model has no biases, RMS norms, and an output layer that does not share the embedding
// (Touvron et al. 2023, "Llama 2: open foundation and fine-tuned chat models"; Ainslie et al. 2023
// for kv_heads).
#pragma once

#include <cstdint>

#include "distributed/planner/model_states.h"

namespace phi::distributed {

struct LlamaShape {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t ffn = 0;  // columns of gate and of up
  int64_t vocabulary = 0;
};

/// Ranks along each mesh dim: dp shards the states of `zero`, pp the layers, tp the matrices.
struct LlamaLayout {
  int64_t dp = 1;
  int64_t pp = 1;
  int64_t tp = 1;
  int64_t chunks = 1;  // model chunks per stage, assigned to the stages in turn
  ZeroStage zero = ZeroStage::kNone;
};

/// Bytes on one rank.
struct LlamaStates {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
};

/// L (2 h^2 + 2 h k + 3 h f + 2 h) + 2 V h + h, with k = kv_heads * h / heads, the columns of keys.
/// Errors: InvalidArgument for a size below 1, heads that do not divide hidden, or kv_heads that do
/// not divide heads.
int64_t llama_parameters(const LlamaShape& shape);

/// Elements that each rank of pipeline stage `stage` holds of parameters that dp does not shard:
/// its layers, the embedding on the first stage, and the final norm and head on the last. If the
/// layers do not divide evenly, the first stages or chunks have one more. Norms are whole on each
/// rank, matrices are 1 / tp.
///
/// Errors   Those of llama_parameters. InvalidArgument for a stage that does not exist, fewer
///          layers than chunks, or a tp that does not divide kv_heads, ffn and vocabulary.
int64_t llama_stage_parameters(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage);

/// The bytes of these states at `bytes` each; states that the ZeRO stage shards are split over dp.
///
/// Errors   Those of llama_stage_parameters. InvalidArgument for a dp that does not divide hidden,
///          if something is split over it.
LlamaStates llama_rank_states(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage,
                              const StateBytes& bytes = {});

}  // namespace phi::distributed
