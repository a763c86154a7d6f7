// TransformerBlock: attention and an MLP, each behind a norm and beside the residual.
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
  double dropout = 0.0;  // of what is added to the residual
};

/// With h = x + dropout(attention(norm_attention(x))): h + dropout(mlp(norm_mlp(h))). x
/// [B,S,d_model] to the same (pre-norm: Xiong et al. 2020). The parameters of attention and MLP go
/// by the block's name: "layer0.qkv.weight".
class TransformerBlock final : public Layer {
 public:
  TransformerBlock(Module& parent, const Name& name, const BlockOptions& options);
  Tensor forward(const Tensor& x) const override;
  /// What a pipeline sends from block to block.
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

std::unique_ptr<Layer> make_norm(Module& parent, const Name& name, NormKind kind, int64_t d,
                                 double epsilon);

}  // namespace phi::nn
