// Embeddings of tokens and positions, and the output head.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

/// Maps ids i64[..] to rows of a table, [.., d]. The table [count, d] has the module's name.
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

/// Adds a row of a table to each position of x [B,S,d]. The table [positions, d] has the module's
/// name.
class PositionEmbedding final : public Layer {
 public:
  PositionEmbedding(Module& parent, const Name& name, int64_t positions, int64_t d,
                    Initialiser table = normal(0.02));
  Tensor forward(const Tensor& x) const override;
  /// The rows of the `count` positions of this forward context, [count, d].
  Tensor rows(int64_t count) const;

 private:
  const Tensor& table_;
};

/// Maps x [.., d] to logits [.., count] in float32, whatever the model's dtype. The weight [d,
/// count] has the module's name. A tied head has no weight: it uses the transposed table of an
/// embedding.
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
  Tensor project(const Tensor& x) const;

  const Tensor* weight_ = nullptr;        // null: tied
  const Embedding* embedding_ = nullptr;  // null: not tied
};

}  // namespace phi::nn
