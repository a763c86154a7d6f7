// Embedding of tokens and positions, and the way back to logits.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// ids i64[..] to rows of a table, [.., d]. The table [count, d] goes by the module's name.
class Embedding final : public Layer {
 public:
  Embedding(Module& parent, const Name& name, int64_t count, int64_t d,
            Initialiser table = normal(0.02));
  Tensor forward(const Tensor& ids) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

  const Tensor& table() const { return table_; }

 private:
  const Tensor& table_;
};

/// x [B,S,d] plus a row for each of its positions. The table [positions, d] goes by the module's
/// name.
class PositionEmbedding final : public Layer {
 public:
  PositionEmbedding(Module& parent, const Name& name, int64_t positions, int64_t d,
                    Initialiser table = normal(0.02));
  Tensor forward(const Tensor& x) const override;
  /// Of the `count` positions of this pass, [count, d].
  Tensor rows(int64_t count) const;

 private:
  const Tensor& table_;
};

/// x [.., d] to logits [.., count] in float32, whatever dtype the model computes in. The weight
/// [d, count] goes by the module's name. A tied head has none: it takes the embedding's table,
/// transposed.
class Head final : public Layer {
 public:
  Head(Module& parent, const Name& name, int64_t d, int64_t count,
       Initialiser weight = normal(0.02));
  /// `embedding` must outlive the head.
  Head(Module& parent, const Name& name, const Embedding& embedding);
  Tensor forward(const Tensor& x) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

 private:
  Tensor product(const Tensor& x) const;

  const Tensor* weight_ = nullptr;        // of its own
  const Embedding* embedding_ = nullptr;  // tied
};

}  // namespace phi::nn
