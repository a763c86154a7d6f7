// Linear: y = x W + b.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

struct LinearOptions {
  bool bias = true;  // zeros at first
  Initialiser weight = normal(0.02);
};

/// x [.., in] to [.., out]; parameters `weight` [in, out] and `bias` [out]. Where the layout fixes
/// the output it fixes the product, so that partial sums are summed up before the bias is added.
class Linear final : public Layer {
 public:
  Linear(Module& parent, const Name& name, int64_t in, int64_t out, LinearOptions options = {});
  Tensor forward(const Tensor& x) const override;

  bool has_bias() const { return bias_ != nullptr; }

 private:
  const Tensor& weight_;
  const Tensor* bias_;  // null: none
};

// Rows of a layout for a product that tensor parallelism splits by columns (its output then is
// split alike), or by rows (its input is; the output is a sum over tp, whole or by position).
void split_by_columns(const Linear& linear, const std::string& tp, Layout* layout);
void split_by_rows(const Linear& linear, const std::string& tp, bool sequence_parallel,
                   Layout* layout);
/// Activations [B,S,..] outside of these pairs of products: whole along tp, or split by position.
distributed::Placement between_products(bool sequence_parallel);

}  // namespace phi::nn
