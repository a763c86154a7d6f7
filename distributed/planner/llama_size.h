// Parameters of a Llama, and the bytes of its model states on each rank of a job, exactly.
//
//   const LlamaShape shape{.layers = 126, .hidden = 16384, .heads = 128, .kv_heads = 8,
//                          .ffn = 53248, .vocabulary = 128256};
//   llama_parameters(shape);                                        // 405,853,388,800
//   const LlamaLayout layout{.dp = 128, .pp = 16, .tp = 8, .zero = ZeroStage::kOptimizer};
//   llama_rank_states(shape, layout, /*stage=*/9).optimizer;        // 298,868,736 bytes
//
// The model: no biases, RMS norms, an output layer of its own (Touvron et al. 2023, "Llama 2: open
// foundation and fine-tuned chat models"; Ainslie et al. 2023 for kv_heads).
#pragma once

#include <cstdint>

#include "distributed/planner/model_states.h"

namespace phi::distributed {

struct LlamaShape {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t ffn = 0;  // columns of gate and up
  int64_t vocabulary = 0;
};

/// Ranks along each mesh dim: dp splits what `zero` says, pp the layers, tp the matrices.
struct LlamaLayout {
  int64_t dp = 1;
  int64_t pp = 1;
  int64_t tp = 1;
  int64_t chunks = 1;  // of the layers, for each stage; dealt out in turn
  ZeroStage zero = ZeroStage::kNone;
};

/// Bytes on one rank.
struct LlamaStates {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
};

/// L (2 h^2 + 2 h k + 3 h f + 2 h) + 2 V h + h, k being the columns of keys: kv_heads * h / heads.
/// Errors: InvalidArgument for a size below 1, heads that do not divide hidden, or kv_heads that do
/// not divide heads.
int64_t llama_parameters(const LlamaShape& shape);

/// Elements that each rank of pipeline stage `stage` holds of parameters that dp does not split:
/// of its layers (the first of the stages, or chunks, have one more if they do not divide), of the
/// embedding on the first stage, and of final norm and head on the last. Norms are whole on each
/// rank, matrices are 1 / tp.
/// Errors: as above; for a stage that does not exist, fewer layers than chunks, or a tp that does
/// not divide kv_heads, ffn and vocabulary.
int64_t llama_stage_parameters(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage);

/// The states of these with `bytes` each, split over dp from the ZeRO stage on that splits them.
/// Errors: as above; for a dp that does not divide hidden, where something is split over it.
LlamaStates llama_rank_states(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage,
                              const StateBytes& bytes = {});

}  // namespace phi::distributed
