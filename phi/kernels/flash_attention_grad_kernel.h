// Gradient of attention without the full score matrix.
//
// T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023,
// algorithm 2: weights are made anew, tile by tile, from the scores and their log-sum-exp.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// With S = q k^T / sqrt(head_dim) + attn_mask, P = exp(S - softmax_lse), M the forward op's
/// dropout (0 or 1 / (1 - dropout)) and D = rowsum(out_grad * out):
///   | v_grad = (P * M)^T out_grad,  dS = P * (M * (out_grad v^T) - D),
///   | q_grad = dS k / sqrt(head_dim),  k_grad = dS^T q / sqrt(head_dim).
/// k_grad and v_grad sum over the query heads that share a key head. A query that sees no key
/// (softmax_lse is -inf) adds nothing. Each output may be null: it is not wanted.
///
/// Arguments and sharding as FlashAttentionKernel; `seed_offset` is what it wrote. Where queries or
/// query heads are sharded more finely than keys, k_grad and v_grad are partial sums. Memory beside
/// the outputs: a few tiles, and k_grad and v_grad of one head.
/// T in float, double, bfloat16, float16.
template <typename T>
void FlashAttentionGradKernel(const CpuContext& ctx, const DenseTensor& q, const DenseTensor& k,
                              const DenseTensor& v, const DenseTensor& out,
                              const DenseTensor& softmax_lse, const DenseTensor* seed_offset,
                              const DenseTensor* attn_mask, const DenseTensor& out_grad,
                              float dropout, bool causal, bool is_test, DenseTensor* q_grad,
                              DenseTensor* k_grad, DenseTensor* v_grad);

}  // namespace phi
