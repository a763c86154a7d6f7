// Rules of attention over sequences of unequal length, and of parts of attention.
#pragma once

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// q [queries, heads, head_dim], k and v [keys, kv_heads, head_dim]: heads may be split. Outputs:
/// out, softmax (absent), softmax_lse [heads, queries], seed_offset.
SpmdRule FlashAttnUnpaddedInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v);
/// Gradients of q, k and v, split as the forward rule splits them.
SpmdRule FlashAttnUnpaddedGradInferSpmd(const TensorSpec& q, const TensorSpec& k,
                                        const TensorSpec& v, const TensorSpec& out,
                                        const TensorSpec& softmax_lse, const TensorSpec& out_grad);

/// x [batch, ...] and cache_kv [2, batch, ...]: the batch may be split. Outputs: out, cache_kv_out,
/// and one that is absent.
SpmdRule MaskedMultiheadAttentionInferSpmd(const TensorSpec& x, const TensorSpec& cache_kv,
                                           const TensorSpec* bias, const TensorSpec* src_mask,
                                           const TensorSpec* sequence_lengths);

/// x [batch, heads, queries, keys]: keys are whole, and each rank knows which queries it has.
SpmdRule SoftmaxUpperTriangleInferSpmd(const TensorSpec& x);
SpmdRule SoftmaxUpperTriangleGradInferSpmd(const TensorSpec& out, const TensorSpec& out_grad);

}  // namespace phi::distributed
