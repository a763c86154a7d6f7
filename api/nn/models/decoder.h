// Decoder: a language model of transformer blocks, ids i64[B,S] to logits f32[B,S,vocab].
//
//   const auto model = nn::models::make(nn::models::LlamaConfig{.layers = 12, .kv_heads = 2});
//   model->initialise(/*seed=*/7, DataType::BFLOAT16);
//   nn::shard(*model, mesh, nn::transformer_layout(*model, mesh));
//   Tensor loss = nn::cross_entropy((*model)(ids), labels);
//
// docs/models.md has the equations. Links: "input" (parameters `token_embedding` and, of a GPT,
// `position_embedding`), "layer0", .., "output" (`final_norm`, `head`).
#pragma once

#include <memory>

#include "api/nn/key_value_cache.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/models/config.h"

namespace phi::nn::models {

class Decoder : public Sequential {
 public:
  const ModelConfig& config() const { return config_; }
  int64_t vocab() const;
  /// Maximum number of positions (Gpt), or the length that the model is trained for (Llama).
  int64_t seq_len() const;
  /// An empty cache with room for `batch` rows of seq_len() positions.
  KeyValueCache make_cache(int64_t batch) const { return {*this, batch, seq_len()}; }

 protected:
  explicit Decoder(ModelConfig config) : config_(std::move(config)) {}

 private:
  ModelConfig config_;
};

/// Learned positions, layer norms before attention and MLP, biases, GELU, dropout (Radford et al.
/// 2019, "Language models are unsupervised multitask learners").
/// Errors: InvalidArgument for an invalid config (models::check).
class Gpt final : public Decoder {
 public:
  explicit Gpt(const GptConfig& config);
};

/// Rotary positions, RMS norms before attention and MLP, fewer heads of keys and values than of
/// queries, SwiGLU, no biases (Touvron et al. 2023, "Llama 2: open foundation and fine-tuned chat
/// models"; Ainslie et al. 2023 for grouped queries).
/// Errors: as Gpt.
class Llama final : public Decoder {
 public:
  explicit Llama(const LlamaConfig& config);
};

/// Constructs the model of a config.
std::unique_ptr<Decoder> make(const ModelConfig& config);

}  // namespace phi::nn::models
