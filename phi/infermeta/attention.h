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
/// Arguments  attn_mask, added to the scores: [batch or 1, heads or 1, sq, sk] of q's dtype;
///            fixed_seed_offset: int64 [2]; rng_name: empty, there is one generator.
/// Outputs    out [batch, sq, heads, v_dim]; softmax [batch, heads, sq, sk] of q's dtype if
///            return_softmax; softmax_lse [batch, heads, sq], float32, or float64 for
///            float64; seed_offset int64 [2] if anything is dropped (dropout > 0 and not
///            is_test).
/// Errors     InvalidArgument naming the argument, all shapes and what fits.
std::tuple<TensorMeta, std::optional<TensorMeta>, TensorMeta, std::optional<TensorMeta>>
FlashAttentionInferMeta(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v,
                        const TensorMeta* fixed_seed_offset, const TensorMeta* attn_mask,
                        float dropout, bool causal, bool return_softmax, bool is_test,
                        const std::string& rng_name = "");

/// Attention of q [batch, s, heads, head_dim] over caches that k [batch, s, kv_heads, head_dim] and
/// v [batch, s, kv_heads, v_dim] are first added to.
///
/// Arguments  k_cache [batch, room, kv_heads, head_dim], v_cache [batch, room, kv_heads, v_dim],
///            where room >= s; cache_seqlens int64 [batch], how many positions they hold for each.
/// Outputs    out [batch, s, heads, v_dim]; the caches.
/// Errors     InvalidArgument naming the argument, its shape and what fits.
std::tuple<TensorMeta, TensorMeta, TensorMeta> FlashAttentionWithKvcacheInferMeta(
    const TensorMeta& q, const TensorMeta& k, const TensorMeta& v, const TensorMeta& k_cache,
    const TensorMeta& v_cache, const TensorMeta& cache_seqlens);

/// Rotates q, and k and v where given; each result is as its argument.
///
/// Shapes   q, k, v [batch, seq, heads, head_dim], or [seq, batch, heads, head_dim] if time_major;
///          heads may differ (grouped-query attention), head_dim is even. sin and cos, given both
///          or not at all: [seq, head_dim] or [1, seq, 1, head_dim], and with position_ids as many
///          rows as the positions need. position_ids: int32 or int64 [batch, seq].
/// Errors   InvalidArgument naming the argument, its shape and what fits.
std::tuple<TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>> FusedRopeInferMeta(
    const TensorMeta& q, const TensorMeta* k, const TensorMeta* v, const TensorMeta* sin,
    const TensorMeta* cos, const TensorMeta* position_ids, bool use_neox_rotary_style,
    bool time_major, float rotary_emb_base);

}  // namespace phi
