// Attention: multi-head attention with grouped queries, rotary positions and a key-value cache.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/nn/layers/linear.h"

namespace phi::nn {

struct AttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // 0: heads; fewer: grouped queries (Ainslie et al. 2023)
  /// One matmul computes queries, keys and values; otherwise three do.
  bool fused = false;
  bool qkv_bias = true;
  bool projection_bias = true;
  /// Base of the rotary position embedding: pair i of neighbouring elements of a head is rotated by
  /// position * base^(-2 i / head size) (Su et al. 2021). nullopt: no positions.
  std::optional<double> rope_base = std::nullopt;
  bool causal = true;
  Initialiser weight = normal(0.02);
  Initialiser projection = normal(0.02);  // of the output projection

  int64_t num_kv_heads() const { return kv_heads == 0 ? heads : kv_heads; }
  int64_t head_size() const { return d_model / heads; }
};

/// Maps x [B,S,d_model] to [B,S,d_model]. Submodules: `qkv` [d_model, 3 d_model], whose columns are
/// ordered by head and within a head q, k, v, or `query`, `key`, `value`; then `projection`. If the
/// forward context has a cache, x holds the positions that follow the cached ones.
///
/// Errors   InvalidArgument for heads that do not divide d_model, kv_heads that do not divide
///          heads, fused with fewer kv_heads, or an odd head size with rotary positions. forward()
///          with a cache: InvalidArgument without `causal`.
class Attention final : public Layer {
 public:
  Attention(Module& parent, const Name& name, AttentionOptions options);
  Tensor forward(const Tensor& x) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

  const AttentionOptions& options() const { return options_; }

 private:
  // Input of the core: one fused tensor, or q, k and v by heads.
  TensorList split_heads(const Tensor& x) const;
  // Attention output per head, [B,S,heads,head size].
  Tensor core(const TensorList& heads) const;
  void apply_rotary(TensorList* qkv) const;

  AttentionOptions options_;
  std::vector<std::unique_ptr<Linear>> input_projections_;  // qkv, or query, key and value
  std::unique_ptr<Linear> projection_;
};

}  // namespace phi::nn
