// The GPT: learned positions, layer norms before attention and MLP, biases, GELU, dropout (Radford
// et al. 2019, "Language models are unsupervised multitask learners").
#pragma once

#include "tools/job/model/architecture.h"

namespace phi::job {

class Gpt final : public Architecture {
 public:
  using Architecture::Architecture;

  TensorList make_layer(const std::string& name, const Stage& stage,
                        Parameters* parameters) const override;
  TensorList make_norm(const std::string& name, const Stage& stage,
                       Parameters* parameters) const override;
  TensorList make_positions(const Stage& first, Parameters* parameters) const override;

  Tensor add_positions(TensorSpan parameters, const Tensor& tokens, const Tensor& first,
                       uint64_t noise) const override;
  Tensor layer(TensorSpan parameters, const Tensor& x, uint64_t noise,
               const Past* past) const override;
  Tensor normalize(TensorSpan norm, const Tensor& x) const override;
  int64_t kv_heads() const override { return model_.heads; }

 private:
  Tensor attention(TensorSpan layer, const Tensor& x, uint64_t noise, const Past* past) const;
  Tensor mlp(TensorSpan layer, const Tensor& x, uint64_t noise) const;
  Tensor with_dropout(const Tensor& x, uint64_t noise) const;
};

}  // namespace phi::job
