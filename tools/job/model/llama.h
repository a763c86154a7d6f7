// The Llama: rotary positions, RMS norms before attention and MLP, fewer heads of keys and values
// than of queries, SwiGLU, no biases (Touvron et al. 2023, "Llama 2: open foundation and fine-tuned
// chat models"; Ainslie et al. 2023 for grouped queries).
#pragma once

#include "tools/job/model/architecture.h"

namespace phi::job {

class Llama final : public Architecture {
 public:
  using Architecture::Architecture;

  TensorList make_layer(const std::string& name, const Stage& stage,
                        Parameters* parameters) const override;
  TensorList make_norm(const std::string& name, const Stage& stage,
                       Parameters* parameters) const override;
  TensorList make_positions(const Stage&, Parameters*) const override { return {}; }

  /// Each layer turns its queries and keys instead.
  Tensor add_positions(TensorSpan, const Tensor& tokens, const Tensor&, uint64_t) const override {
    return tokens;
  }
  /// Draws nothing.
  Tensor layer(TensorSpan parameters, const Tensor& x, uint64_t noise,
               const Past* past) const override;
  Tensor normalize(TensorSpan norm, const Tensor& x) const override;
  int64_t kv_heads() const override { return model_.kv_heads; }

 private:
  Tensor attention(TensorSpan layer, const Tensor& x, const Past* past) const;
  Tensor attend_rotated(const TensorList& qkv, const Past* past) const;
  Tensor mlp(TensorSpan layer, const Tensor& x) const;
};

}  // namespace phi::job
