// The first and the last link of a Decoder.
#pragma once

#include <memory>

#include "api/nn/layers/dropout.h"
#include "api/nn/layers/embedding.h"
#include "api/nn/layers/transformer_block.h"

namespace phi::nn::models {

struct InputOptions {
  int64_t vocab = 0;
  int64_t d_model = 0;
  int64_t positions = 0;  // learned positions; 0: none
  double dropout = 0.0;
};

/// Maps ids i64[B,S] to the input of the first block, [B,S,d_model].
class DecoderInput final : public Layer {
 public:
  DecoderInput(Module& parent, const Name& name, const InputOptions& options);
  Tensor forward(const Tensor& ids) const override;

  const Embedding& tokens() const { return tokens_; }

 private:
  Embedding tokens_;
  std::unique_ptr<PositionEmbedding> positions_;
  Dropout dropout_;
};

struct OutputOptions {
  int64_t vocab = 0;
  int64_t d_model = 0;
  NormKind norm = NormKind::kLayerNorm;
  double norm_epsilon = 1e-5;
};

/// Maps x [B,S,d_model] to logits f32[B,S,vocab]; to [B,1,vocab] if the forward context wants only
/// the last position.
class DecoderOutput final : public Layer {
 public:
  /// `tied`: the embedding whose table the head uses; null: the head has its own weight.
  DecoderOutput(Module& parent, const Name& name, const OutputOptions& options,
                const Embedding* tied);
  Tensor forward(const Tensor& x) const override;

 private:
  std::unique_ptr<Layer> norm_;
  std::unique_ptr<Head> head_;
};

}  // namespace phi::nn::models
