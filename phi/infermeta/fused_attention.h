// Shape and dtype inference of attention over packed sequences of different lengths, of attention
// for one generated token, and of masked softmax.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Attention over sequences that are packed one after the other: q [all queries, heads, head_dim],
/// k [all keys, kv_heads, head_dim], v [all keys, kv_heads, v_dim], where kv_heads divides heads.
///
/// Arguments  cu_seqlens_q and cu_seqlens_k, int32 or int64 [sequences + 1], are the begin of each
///            sequence, and the end. fixed_seed_offset is int64 [2]. attn_mask must be absent, and
///            no softmax is returned.
/// Outputs    out [all queries, heads, v_dim]; no softmax; softmax_lse [heads, all queries],
///            float64 for float64 and float32 otherwise; seed_offset int64 [2] if elements are
///            dropped.
/// Errors     InvalidArgument, which names the argument, all shapes and the accepted shapes.
std::tuple<TensorMeta, std::optional<TensorMeta>, TensorMeta, std::optional<TensorMeta>>
FlashAttnUnpaddedInferMeta(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v,
                           const TensorMeta& cu_seqlens_q, const TensorMeta& cu_seqlens_k,
                           const TensorMeta* fixed_seed_offset, const TensorMeta* attn_mask,
                           float dropout, bool return_softmax, bool is_test,
                           const std::string& rng_name);

/// One step of generation.
///
/// Arguments  x [batch, 3 * heads * width], cache_kv [2, batch, heads, room, width], bias [3,
///            heads, width], src_mask [batch, 1, 1, positions], sequence_lengths int32 [batch] or
///            [batch, 1]. src_mask or sequence_lengths determines the new position. All other
///            tensors must be absent and their attributes must have their default values.
/// Outputs    out [batch, heads * width]; the cache; no third output.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>> MaskedMultiheadAttentionInferMeta(
    const TensorMeta& x, const TensorMeta& cache_kv, const TensorMeta* bias,
    const TensorMeta* src_mask, const TensorMeta* cum_offsets, const TensorMeta* sequence_lengths,
    const TensorMeta* rotary_tensor, const TensorMeta* beam_cache_offset,
    const TensorMeta* qkv_out_scale, const TensorMeta* out_shift, const TensorMeta* out_smooth,
    int seq_len, int rotary_emb_dims, bool use_neox_rotary_style, const std::string& compute_dtype,
    float out_scale, int quant_round_type, float quant_max_bound, float quant_min_bound);

/// Returns the meta of x [batch, heads, queries, keys], which has as many keys as queries.
TensorMeta SoftmaxUpperTriangleInferMeta(const TensorMeta& x);

}  // namespace phi
