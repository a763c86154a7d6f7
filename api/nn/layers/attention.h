// Attention: multi-head, with grouped keys and values, rotary positions and a key-value cache.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/nn/layers/linear.h"

namespace phi::nn {

struct AttentionOptions {
  int64_t d_model = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // 0: as many as heads (Ainslie et al. 2023 for fewer)
  /// One product gives queries, keys and values; else there are three.
  bool fused = false;
  bool qkv_bias = true;
  bool projection_bias = true;
  /// Base of rotary positions: neighbouring numbers of a head are turned by position *
  /// base^(-2 i / head size) (Su et al. 2021). None: attention knows of no positions.
  std::optional<double> rope_base = std::nullopt;
  bool causal = true;
  Initialiser weight = normal(0.02);
  Initialiser projection = normal(0.02);  // of the product out of the heads

  int64_t num_kv_heads() const { return kv_heads == 0 ? heads : kv_heads; }
  int64_t head_size() const { return d_model / heads; }
};

/// x [B,S,d_model] to the same. Parts: `qkv` [d_model, 3 d_model] (its columns are ordered head by
/// head, and in a head q, k, v), or `query`, `key`, `value`; then `projection`.
/// In a pass with a cache x are the positions that follow those in it.
/// Errors: InvalidArgument for heads that do not divide d_model, kv_heads that do not divide heads,
/// fused with fewer kv_heads, or an odd head size with rotary positions; of a pass, a cache without
/// `causal`.
class Attention final : public Layer {
 public:
  Attention(Module& parent, const Name& name, AttentionOptions options);
  Tensor forward(const Tensor& x) const override;
  void add_tensor_parallel(Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

  const AttentionOptions& options() const { return options_; }

 private:
  // What the core takes: one fused tensor, or q, k and v by heads.
  TensorList heads_of(const Tensor& x) const;
  // Mixed values [B,S,heads,head size].
  Tensor core(const TensorList& heads) const;
  void turn_by_positions(TensorList* qkv) const;

  AttentionOptions options_;
  std::vector<std::unique_ptr<Linear>> products_;  // into heads
  std::unique_ptr<Linear> projection_;
};

}  // namespace phi::nn
