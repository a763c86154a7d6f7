// Sharding rules of attention and rotary position embeddings.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// q [batch, queries, heads, head_dim], k and v [batch, keys, kv_heads, head_dim]; batch and heads
/// may be split. With fewer kv_heads than heads the split must not cut a group of heads.
/// Outputs: out, softmax [batch, heads, queries, keys], softmax_lse [batch, heads, queries],
/// seed_offset.
SpmdRule FlashAttentionInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v,
                                 const TensorSpec* fixed_seed_offset, const TensorSpec* attn_mask,
                                 float dropout, bool causal, bool return_softmax, bool is_test);

/// Gradients of q, k and v, split like the inputs of the forward rule.
SpmdRule FlashAttentionGradInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v,
                                     const TensorSpec& out, const TensorSpec& softmax_lse,
                                     const TensorSpec* seed_offset, const TensorSpec* attn_mask,
                                     const TensorSpec& out_grad);

/// Caches and cache_seqlens are split like q, k and v: by batch and heads. Outputs: out, k_cache,
/// v_cache.
SpmdRule FlashAttentionWithKvcacheInferSpmd(const TensorSpec& q, const TensorSpec& k,
                                            const TensorSpec& v, const TensorSpec& k_cache,
                                            const TensorSpec& v_cache,
                                            const TensorSpec& cache_seqlens);

/// q, k, v [batch, seq, heads, head_dim] (time_major: [seq, batch, ...]); sin and cos have seq and
/// head_dim; position_ids is [batch, seq]. Each output is sharded like its input, and absent with
/// it.
SpmdRule FusedRopeInferSpmd(const TensorSpec& q, const TensorSpec* k, const TensorSpec* v,
                            const TensorSpec* sin, const TensorSpec* cos,
                            const TensorSpec* position_ids, bool use_neox_rotary_style,
                            bool time_major, float rotary_emb_base);

}  // namespace phi::distributed
