// The gradient of attention on the CPU.
#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/cpu/attention/attention_scratch.h"
#include "phi/kernels/cpu/attention/flash_attention_grad.h"

namespace phi {

/// With S = q k^T / sqrt(head_dim) + attn_mask, P = exp(S - softmax_lse), M the forward op's
/// dropout (0 or 1 / (1 - dropout)) and D = rowsum(out_grad * out):
///   | v_grad = (P * M)^T out_grad,  dS = P * (M * (out_grad v^T) - D),
///   | q_grad = dS k / sqrt(head_dim),  k_grad = dS^T q / sqrt(head_dim).
/// k_grad and v_grad sum over the query heads that share a key head. A query that sees no key
/// (softmax_lse is -inf) contributes nothing. An output that is not wanted is null.
///
/// Arguments and sharding are those of FlashAttentionKernel; `seed_offset` is its output. If
/// queries or query heads are split into more shards than keys, k_grad and v_grad are partial sums.
/// Extra memory: a few tiles, and k_grad and v_grad of one head.
template <typename T, typename Context>
void FlashAttentionGradKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                              const DenseTensor& v, const DenseTensor& out,
                              const DenseTensor& softmax_lse, const DenseTensor* seed_offset,
                              const DenseTensor* attn_mask, const DenseTensor& out_grad,
                              float dropout, bool causal, bool is_test, DenseTensor* q_grad,
                              DenseTensor* k_grad, DenseTensor* v_grad) {
  const AttentionShards places = attention_shards(ctx, q, k, v, attn_mask, 6);
  places.check_keys();
  const auto drop = AttentionDropout::make(seed_offset, dropout, is_test, places.k.global[1]);
  const AttentionGradients<T> wanted{data_if_wanted<T>(q_grad), data_if_wanted<T>(k_grad),
                                     data_if_wanted<T>(v_grad)};
  visit_operand<T>([&]<typename W>() {
    FlashAttentionGrad<T, W> gradient({q, k, v, attn_mask, places, causal, drop}, places, out,
                                      out_grad, softmax_lse.data<compute_t<T>>(), wanted);
    gradient.run();
  });
}

template <typename T, typename Context>
void FlashAttentionGradScratch(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                               const DenseTensor& v, const DenseTensor& /*out*/,
                               const DenseTensor& /*softmax_lse*/,
                               const DenseTensor* /*seed_offset*/, const DenseTensor* /*attn_mask*/,
                               const DenseTensor& /*out_grad*/, float /*dropout*/, bool /*causal*/,
                               bool /*is_test*/, DenseTensor* q_grad, DenseTensor* k_grad,
                               DenseTensor* v_grad) {
  const WantedGradients wanted{q_grad != nullptr, k_grad != nullptr, v_grad != nullptr};
  visit_operand<T>([&]<typename W>() {
    plan_attention_grad<T, W>(AttentionExtents::of(q, k, v), wanted, &ctx.scratch());
  });
}

PHI_REGISTER_KERNEL(flash_attention_grad, CPU, FlashAttentionGradKernel, Floats);
PHI_REGISTER_SCRATCH(flash_attention_grad, FlashAttentionGradScratch, StatedAttention);

}  // namespace phi
