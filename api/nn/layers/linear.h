// Linear: y = x W + b.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

struct LinearOptions {
  bool bias = true;  // initially zeros
  Initialiser weight = normal(0.02);
};

/// Maps x [.., in] to [.., out]; parameters `weight` [in, out] and `bias` [out]. Placements that
/// the layout fixes for the output apply to the matmul's result, so partial sums are reduced before
/// the bias is added.
class Linear final : public Layer {
 public:
  Linear(Module& parent, const Name& name, int64_t in, int64_t out, LinearOptions options = {});
  Tensor forward(const Tensor& x) const override;

  bool has_bias() const { return bias_ != nullptr; }

 private:
  const Tensor& weight_;
  const Tensor* bias_;  // null: none
};

/// Adds the layout rows of a linear layer that tensor parallelism splits by columns (its output is
/// split too), or by rows (its input is split too, and its output is reduced over tp: replicated,
/// or split by position with `sequence_parallel`).
void split_by_columns(const Linear& linear, const std::string& tp, Layout* layout);
void split_by_rows(const Linear& linear, const std::string& tp, bool sequence_parallel,
                   Layout* layout);
/// Placement along tp of activations [B,S,..] outside of these pairs of matmuls: replicated, or
/// split by position.
distributed::Placement placement_between_matmuls(bool sequence_parallel);

}  // namespace phi::nn
