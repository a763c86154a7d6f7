// Converts the keys of a job to the fields of a model config.
#include "tools/job/config/to_library_model.h"

namespace phi::job {

nn::models::ModelConfig to_library_model(const ModelConfig& model) {
  if (model.kind == "gpt") {
    return nn::models::GptConfig{.vocab = model.vocab,
                                 .seq_len = model.seq_len,
                                 .d_model = model.d_model,
                                 .layers = model.layers,
                                 .heads = model.heads,
                                 .hidden = model.d_model * model.mlp_ratio,
                                 .activation = model.activation,
                                 .dropout = model.dropout,
                                 .norm_eps = model.norm_eps,
                                 .tied_head = model.tied_head};
  }
  return nn::models::LlamaConfig{.vocab = model.vocab,
                                 .seq_len = model.seq_len,
                                 .d_model = model.d_model,
                                 .layers = model.layers,
                                 .heads = model.heads,
                                 .kv_heads = model.kv_heads,
                                 .ffn = model.ffn,
                                 .rope_base = model.rope_base,
                                 .norm_eps = model.norm_eps,
                                 .qkv_bias = model.qkv_bias,
                                 .tied_head = model.tied_head};
}

}  // namespace phi::job
