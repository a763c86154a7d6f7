// Shape and dtype inference of attention and of rotary position embedding.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Attention of q [batch, sq, heads, head_dim] over k [batch, sk, kv_heads, head_dim] and
/// v [batch, sk, kv_heads, v_dim], where kv_heads divides heads (grouped-query attention).
///
/// Arguments  attn_mask is added to the scores: [batch or 1, heads or 1, sq, sk] of q's dtype.
///            fixed_seed_offset is int64 [2]. rng_name must be empty, because there is one
///            generator.
/// Outputs    out [batch, sq, heads, v_dim]; softmax [batch, heads, sq, sk] of q's dtype if
///            return_softmax; softmax_lse [batch, heads, sq], float64 for float64 and float32
///            otherwise; seed_offset int64 [2] if dropout > 0 and not is_test.
/// Errors     InvalidArgument, which names the argument, all shapes and the accepted shapes.
std::tuple<TensorMeta, std::optional<TensorMeta>, TensorMeta, std::optional<TensorMeta>>
FlashAttentionInferMeta(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v,
                        const TensorMeta* fixed_seed_offset, const TensorMeta* attn_mask,
                        float dropout, bool causal, bool return_softmax, bool is_test,
                        const std::string& rng_name = "");

/// Appends k [batch, s, kv_heads, head_dim] and v [batch, s, kv_heads, v_dim] to their caches, then
/// computes attention of q [batch, s, heads, head_dim] over the caches.
///
/// Arguments  k_cache [batch, room, kv_heads, head_dim] and v_cache [batch, room, kv_heads, v_dim]
///            with room >= s. cache_seqlens int64 [batch] is the number of positions in use per
///            batch entry.
/// Outputs    out [batch, s, heads, v_dim]; the two caches.
/// Errors     InvalidArgument, which names the argument, its shape and the accepted shape.
std::tuple<TensorMeta, TensorMeta, TensorMeta> FlashAttentionWithKvcacheInferMeta(
    const TensorMeta& q, const TensorMeta& k, const TensorMeta& v, const TensorMeta& k_cache,
    const TensorMeta& v_cache, const TensorMeta& cache_seqlens);

/// Rotates q, and k and v if present. Each result has the meta of its argument.
///
/// Shapes   q, k, v are [batch, seq, heads, head_dim], or [seq, batch, heads, head_dim] if
///          time_major. Their heads may differ (grouped-query attention); head_dim is even. sin and
///          cos are both present or both absent; they are [seq, head_dim] or [1, seq, 1, head_dim],
///          with enough rows for all positions if position_ids is present. position_ids is int32 or
///          int64 [batch, seq].
/// Errors   InvalidArgument, which names the argument, its shape and the accepted shape.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>> FusedRopeInferMeta(
    const TensorMeta& q, const TensorMeta* k, const TensorMeta* v, const TensorMeta* sin,
    const TensorMeta* cos, const TensorMeta* position_ids, bool use_neox_rotary_style,
    bool time_major, float rotary_emb_base);

}  // namespace phi
