// The transformer block and its norms.
#include "api/nn/layers/transformer_block.h"

#include "api/generated/ops/add.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layout/layout.h"

namespace phi::nn {
namespace {

// Adds y to x in place; x has no other user.
Tensor add_into(Tensor x, const Tensor& y) {
  add_(x, y);
  return x;
}

std::unique_ptr<Layer> make_mlp(Module& parent, const BlockOptions& options) {
  const int64_t d = options.attention.d_model;
  const int64_t hidden = options.hidden == 0 ? 4 * d : options.hidden;
  const Name name = Name::flat("mlp");
  if (options.mlp == MlpKind::kSwiGlu) {
    return std::make_unique<SwiGLU>(parent, name, d, hidden, options.mlp_options);
  }
  return std::make_unique<MLP>(parent, name, d, hidden, options.mlp_options);
}

}  // namespace

std::unique_ptr<Layer> make_norm(Module& parent, const Name& name, NormKind kind, int64_t d,
                                 double epsilon) {
  if (kind == NormKind::kRmsNorm) return std::make_unique<RMSNorm>(parent, name, d, epsilon);
  return std::make_unique<LayerNorm>(parent, name, d, epsilon);
}

TransformerBlock::TransformerBlock(Module& parent, const Name& name, const BlockOptions& options)
    : Layer(parent, name) {
  const auto norm = [&](const char* own) {
    return make_norm(*this, own, options.norm, options.attention.d_model, options.norm_epsilon);
  };
  norm_attention_ = norm("norm_attention");
  attention_ = std::make_unique<Attention>(*this, Name::flat("attention"), options.attention);
  dropout_attention_ = std::make_unique<Dropout>(*this, "dropout_attention", options.dropout);
  norm_mlp_ = norm("norm_mlp");
  mlp_ = make_mlp(*this, options);
  dropout_mlp_ = std::make_unique<Dropout>(*this, "dropout_mlp", options.dropout);
}

Tensor TransformerBlock::forward(const Tensor& x) const {
  const Tensor h = add_into((*dropout_attention_)((*attention_)((*norm_attention_)(x))), x);
  return add_into((*dropout_mlp_)((*mlp_)((*norm_mlp_)(h))), h);
}

void TransformerBlock::add_tensor_parallel(Layout* layout, const std::string& tp,
                                           bool sequence_parallel) const {
  layout->inputs(path(), {{tp, placement_between_matmuls(sequence_parallel)}});
}

}  // namespace phi::nn
