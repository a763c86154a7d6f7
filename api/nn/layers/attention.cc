// Splitting into heads, rotary positions, and attention over cached keys and values.
#include "api/nn/layers/attention.h"

#include <tuple>

#include "api/autograd/autograd.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/arange.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/flash_attention_with_kvcache_.h"
#include "api/generated/ops/fused_rotary_position_embedding.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/split_with_num.h"
#include "api/generated/ops/squeeze.h"
#include "api/generated/ops/unsqueeze.h"
#include "api/nn/key_value_cache.h"
#include "api/nn/layout/layout.h"
#include "phi/common/errors.h"

namespace phi::nn {

using distributed::Replicate;
using distributed::Shard;

namespace {

AttentionOptions checked_attention_options(AttentionOptions options, const std::string& path) {
  PHI_CHECK(options.heads >= 1 && options.d_model >= 1 && options.d_model % options.heads == 0,
            errors::InvalidArgument("attention '{}': {} heads do not divide d_model {}; it must be "
                                    "a multiple of heads.",
                                    path, options.heads, options.d_model));
  const int64_t kv_heads = options.num_kv_heads();
  PHI_CHECK(kv_heads >= 1 && options.heads % kv_heads == 0,
            errors::InvalidArgument("attention '{}': {} kv_heads do not divide heads {}; each key "
                                    "must be shared by the same number of queries.",
                                    path, kv_heads, options.heads));
  PHI_CHECK(
      !options.fused || kv_heads == options.heads,
      errors::InvalidArgument("attention '{}': a fused projection has the same number of keys and "
                              "queries, but kv_heads is {} of {} heads; set fused to false.",
                              path, kv_heads, options.heads));
  PHI_CHECK(
      !options.rope_base || options.head_size() % 2 == 0,
      errors::InvalidArgument(
          "attention '{}': the head size {} is odd; rotary positions rotate pairs of elements.",
          path, options.head_size()));
  return options;
}

// Splits a fused tensor [B,S,heads,3,head size] into q, k and v.
TensorList split_fused(const Tensor& fused) {
  TensorList heads;
  for (const Tensor& part : split_with_num(fused, 3, 3)) heads.push_back(squeeze(part, {3}));
  return heads;
}

}  // namespace

Attention::Attention(Module& parent, const Name& name, AttentionOptions options)
    : Layer(parent, name), options_(checked_attention_options(std::move(options), path())) {
  const int64_t d = options_.d_model;
  const int64_t kv = options_.num_kv_heads() * options_.head_size();
  const auto product = [&](const char* own, int64_t out) {
    const LinearOptions linear{.bias = options_.qkv_bias, .weight = options_.weight};
    input_projections_.push_back(std::make_unique<Linear>(*this, own, d, out, linear));
  };
  if (options_.fused) {
    product("qkv", 3 * d);
  } else {
    product("query", d);
    product("key", kv);
    product("value", kv);
  }
  const LinearOptions out{.bias = options_.projection_bias, .weight = options_.projection};
  projection_ = std::make_unique<Linear>(*this, "projection", d, d, out);
}

void Attention::add_tensor_parallel(Layout* layout, const std::string& tp,
                                    bool sequence_parallel) const {
  for (const auto& product : input_projections_) split_by_columns(*product, tp, layout);
  split_by_rows(*projection_, tp, sequence_parallel, layout);
  if (sequence_parallel) layout->inputs(path(), {{tp, Replicate()}});
  layout->caches(path(), {{tp, Shard(2)}});
}

Tensor Attention::forward(const Tensor& x) const {
  const TensorList heads = split_heads(x);
  const bool again = recompute() == Recompute::kSelective && !forward_context().cache;
  const Tensor mixed =
      again ? phi::recompute([this](const TensorList& in) { return core(in); }, heads)
            : core(heads);
  return (*projection_)(reshape(mixed, {x.shape()[0], x.shape()[1], options_.d_model}));
}

TensorList Attention::split_heads(const Tensor& x) const {
  const int64_t batch = x.shape()[0];
  const int64_t seq = x.shape()[1];
  const int64_t size = options_.head_size();
  // Columns of the fused weight are ordered by head, so that a split of the columns splits heads.
  if (options_.fused) {
    return {reshape((*input_projections_[0])(x), {batch, seq, options_.heads, 3, size})};
  }
  TensorList heads;
  for (const auto& product : input_projections_) {
    const int64_t count = heads.empty() ? options_.heads : options_.num_kv_heads();
    heads.push_back(reshape((*product)(x), {batch, seq, count, size}));
  }
  return heads;
}

Tensor Attention::core(const TensorList& heads) const {
  TensorList qkv = options_.fused ? split_fused(heads[0]) : heads;
  if (options_.rope_base) apply_rotary(&qkv);
  if (KeyValueCache* cache = forward_context().cache) {
    PHI_CHECK(options_.causal,
              errors::InvalidArgument("attention '{}' is not causal, so it cannot continue from a "
                                      "cache; make it causal, or pass all positions at once.",
                                      path()));
    auto& [keys, values] = cache->entry(*this);
    return std::get<0>(
        flash_attention_with_kvcache_(qkv[0], qkv[1], qkv[2], keys, values, cache->lengths(*this)));
  }
  return std::get<0>(flash_attention(qkv[0], qkv[1], qkv[2], std::nullopt, std::nullopt,
                                     /*dropout=*/0.0f, options_.causal,
                                     /*return_softmax=*/false, /*is_test=*/true));
}

void Attention::apply_rotary(TensorList* qkv) const {
  // Without a cache, the operator derives positions from the offset of its shard in the sequence.
  std::optional<Tensor> positions;
  if (KeyValueCache* cache = forward_context().cache) {
    const int64_t count = (*qkv)[0].shape()[1];
    positions = add(unsqueeze(cache->lengths(*this), {1}), arange(0, count, 1));
  }
  const auto [q, k, v] = fused_rotary_position_embedding(
      (*qkv)[0], (*qkv)[1], std::nullopt, std::nullopt, std::nullopt, positions,
      /*use_neox_rotary_style=*/true, /*time_major=*/false,
      static_cast<float>(*options_.rope_base));
  (*qkv)[0] = q;
  (*qkv)[1] = k;
}

}  // namespace phi::nn
