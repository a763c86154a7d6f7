// Sharding rules of attention over sequences of unequal length, of one-step decoding with a cache,
// and of masked softmax.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// q [queries, heads, head_dim], k and v [keys, kv_heads, head_dim]: heads may be split. Outputs:
/// out, softmax (absent), softmax_lse [heads, queries], seed_offset.
SpmdRule FlashAttnUnpaddedInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v);
/// Gradients of q, k and v, split like the inputs of the forward rule.
SpmdRule FlashAttnUnpaddedGradInferSpmd(const TensorSpec& q, const TensorSpec& k,
                                        const TensorSpec& v, const TensorSpec& out,
                                        const TensorSpec& softmax_lse, const TensorSpec& out_grad);

/// x [batch, ...] and cache_kv [2, batch, ...]: the batch may be split. Outputs: out, cache_kv_out,
/// and an absent third one.
SpmdRule MaskedMultiheadAttentionInferSpmd(const TensorSpec& x, const TensorSpec& cache_kv,
                                           const TensorSpec* bias, const TensorSpec* src_mask,
                                           const TensorSpec* sequence_lengths);

/// x [batch, heads, queries, keys]: keys must be whole. The kernel queries which queries its shard
/// has.
SpmdRule SoftmaxUpperTriangleInferSpmd(const TensorSpec& x);
SpmdRule SoftmaxUpperTriangleGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad);

}  // namespace phi::distributed
