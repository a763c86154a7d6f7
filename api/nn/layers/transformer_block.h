// TransformerBlock: attention and an MLP, each with a norm before it and a residual connection.
#pragma once

#include <memory>

#include "api/nn/layers/attention.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/mlp.h"

namespace phi::nn {

enum class NormKind : uint8_t { kLayerNorm, kRmsNorm };
enum class MlpKind : uint8_t { kMlp, kSwiGlu };

struct BlockOptions {
  AttentionOptions attention{};
  NormKind norm = NormKind::kLayerNorm;
  double norm_epsilon = 1e-5;
  MlpKind mlp = MlpKind::kMlp;
  int64_t hidden = 0;  // 0: 4 d_model
  MlpOptions mlp_options{};
  double dropout = 0.0;  // on the outputs of attention and MLP
};

/// With h = x + dropout(attention(norm_attention(x))), returns h + dropout(mlp(norm_mlp(h))): x
/// [B,S,d_model] to [B,S,d_model] (pre-norm: Xiong et al. 2020). Attention and MLP have flat names:
/// "layer0.qkv.weight".
class TransformerBlock final : public Layer {
 public:
  TransformerBlock(Module& parent, const Name& name, const BlockOptions& options);
  Tensor forward(const Tensor& x) const override;
  /// Fixes the placements of the output, which a pipeline sends to the next block.
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

 private:
  std::unique_ptr<Layer> norm_attention_;
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<Dropout> dropout_attention_;
  std::unique_ptr<Layer> norm_mlp_;
  std::unique_ptr<Layer> mlp_;
  std::unique_ptr<Dropout> dropout_mlp_;
};

/// A LayerNorm or an RMSNorm over a last tensor dim of extent d.
std::unique_ptr<Layer> make_norm(Module& parent, const Name& name, NormKind kind, int64_t d,
                                 double epsilon);

}  // namespace phi::nn
