// Attention without the full score matrix.
//
// T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention: Fast and Memory-Efficient Exact
// Attention with IO-Awareness", 2022; T. Dao, "FlashAttention-2", 2023. The online softmax is that
// of M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out = dropout(softmax(q k^T / sqrt(head_dim) + attn_mask)) v per batch entry and head; shapes
/// as FlashAttentionInferMeta says. T in float, double, bfloat16, float16 (16-bit compute in
/// float).
///
/// causal    Query i sees the keys j <= i + sk - sq: the mask is aligned to the bottom right corner
///           where the lengths differ. A query that sees no key gives zeros and a log-sum-exp of
///           -inf.
/// attn_mask A query all of whose keys have -inf is one that sees no key. Hide with -inf: a row of
///           large finite numbers alone (-1e9, say) averages its values, but its log-sum-exp has no
///           digits left for the gradient.
/// dropout   Unless is_test, a weight is dropped with this probability and kept ones are divided by
///           1 - dropout. What is dropped depends on seed and offset (fixed_seed_offset, else 0, 0;
///           written to seed_offset) and the weight's global position alone.
/// softmax   If wanted: the weights that multiplied v, dropout included.
/// Sharding  Any of batch, heads and q's sequence may be a part of the global tensor; k's sequence
///           must be whole, and k must hold the heads and batch entries that q's need.
template <typename T>
void FlashAttentionKernel(const CpuContext& ctx, const DenseTensor& q, const DenseTensor& k,
                          const DenseTensor& v, const DenseTensor* fixed_seed_offset,
                          const DenseTensor* attn_mask, float dropout, bool causal,
                          bool return_softmax, bool is_test, DenseTensor* out, DenseTensor* softmax,
                          DenseTensor* softmax_lse, DenseTensor* seed_offset);

/// Adds k and v to the caches, in place, and attends to all that is there then, causally: the new
/// positions of batch entry b are cache_seqlens[b] + 0, 1, ... and see those before and themselves.
/// Nothing that the caches held is moved or copied. As in Dao's flash_attn_with_kvcache.
///
/// Sharding  Any of batch and heads may be a part of the global tensors, as FlashAttentionKernel.
/// Errors    OutOfRange if a length is negative or the caches have no room for the new positions.
template <typename T>
void FlashAttentionWithKvcacheKernel(const CpuContext& ctx, const DenseTensor& q,
                                     const DenseTensor& k, const DenseTensor& v,
                                     const DenseTensor& k_cache, const DenseTensor& v_cache,
                                     const DenseTensor& cache_seqlens, DenseTensor* out,
                                     DenseTensor* k_cache_out, DenseTensor* v_cache_out);

}  // namespace phi
