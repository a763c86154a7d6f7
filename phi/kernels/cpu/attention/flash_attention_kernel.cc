// Attention on the CPU: over whole sequences, and over the KV caches of generation.
#include <cstring>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/cpu/attention/attention_scratch.h"
#include "phi/kernels/cpu/attention/flash_attention.h"

namespace phi {
namespace {

// Returns positions [begin, end) of batch entry b of a [batch, seq, heads, width] array, as a batch
// of one.
DenseTensor positions_of(const DenseTensor& x, int64_t b, int64_t begin, int64_t end) {
  const Dims& d = x.dims();
  const DenseTensor entry = x.rows(b, b + 1).view({d[1], d[2], d[3]});
  return entry.rows(begin, end).view({1, end - begin, d[2], d[3]});
}

// Writes entry b of x after the first `held` positions of its cache. Returns all positions that the
// cache then has.
DenseTensor append(const DenseTensor& x, int64_t b, int64_t held, const DenseTensor& cache) {
  const int64_t end = held + x.dims()[1];
  const DenseTensor from = x.rows(b, b + 1);
  DenseTensor to = positions_of(cache, b, held, end);
  if (from.nbytes() > 0) std::memcpy(to.mutable_raw_data(), from.raw_data(), from.nbytes());
  return positions_of(cache, b, 0, end);
}

// Copies the cache to `out`, unless the call is inplace.
void start_from_cache(const DenseTensor& cache, DenseTensor* out) {
  if (out->nbytes() == 0 || out->raw_data() == cache.raw_data()) return;
  std::memcpy(out->mutable_raw_data(), cache.raw_data(), cache.nbytes());
}

// Returns the places of one batch entry with `keys` keys; only the split of heads remains.
AttentionShards places_of_entry(AttentionShards places, int64_t keys) {
  for (ShardBox* shard : {&places.q, &places.k}) {
    shard->global[0] = shard->box.size[0] = 1;
    shard->box.offset[0] = 0;
  }
  places.k.global[1] = places.k.box.size[1] = keys;
  return places;
}

}  // namespace

/// out = dropout(softmax(q k^T / sqrt(head_dim) + attn_mask)) v for each batch entry and head.
/// FlashAttentionInferMeta defines the shapes. Half precision is computed in float.
///
/// causal     Query i sees the keys j <= i + sk - sq: if the lengths differ, the mask is aligned to
///            the bottom right corner. A query that sees no key has output 0 and a log-sum-exp of
///            -inf.
/// attn_mask  A query whose keys all have -inf is one that sees no key. Hide keys with -inf: a row
///            of large finite numbers, such as -1e9, averages its values, but its log-sum-exp has
///            too few digits for the gradient.
/// dropout    Unless is_test, a weight is dropped with this probability, and kept weights are
///            divided by 1 - dropout. Only seed and offset (fixed_seed_offset, else 0, 0; written
///            to seed_offset) and the weight's global position decide whether it is dropped.
/// softmax    If wanted, the weights that multiplied v, dropout included.
/// Sharding   Batch, heads and q's sequence may be parts of the global tensor. k's sequence must be
///            whole, and k must have the heads and batch entries that q's heads need.
template <typename T, typename Context>
void FlashAttentionKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                          const DenseTensor& v, const DenseTensor* fixed_seed_offset,
                          const DenseTensor* attn_mask, float dropout, bool causal,
                          bool return_softmax, bool is_test, DenseTensor* out, DenseTensor* softmax,
                          DenseTensor* softmax_lse, DenseTensor* seed_offset) {
  const AttentionShards places = attention_shards(ctx, q, k, v, attn_mask, 4);
  const auto drop = AttentionDropout::make(fixed_seed_offset, dropout, is_test, places.k.global[1]);
  if (drop.probability > 0 && seed_offset) {
    auto* values = seed_offset->mutable_data<int64_t>();
    values[0] = static_cast<int64_t>(drop.seed);
    values[1] = static_cast<int64_t>(drop.offset);
  }
  if (q.dims().numel(0, 3) == 0) return;
  visit_operand<T>([&]<typename W>() {
    FlashAttention<T, W> attention({q, k, v, attn_mask, places, causal, drop});
    attention.run(out->mutable_data<T>(),
                  return_softmax && softmax ? softmax->mutable_data<T>() : nullptr,
                  softmax_lse->mutable_data<compute_t<T>>());
  });
}

template <typename T, typename Context>
void FlashAttentionScratch(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                           const DenseTensor& v, const DenseTensor* /*fixed_seed_offset*/,
                           const DenseTensor* /*attn_mask*/, float /*dropout*/, bool /*causal*/,
                           bool /*return_softmax*/, bool /*is_test*/, DenseTensor* /*out*/,
                           DenseTensor* /*softmax*/, DenseTensor* /*softmax_lse*/,
                           DenseTensor* /*seed_offset*/) {
  if (q.dims().numel(0, 3) == 0) return;
  visit_operand<T>(
      [&]<typename W>() { plan_attention<T, W>(AttentionExtents::of(q, k, v), &ctx.scratch()); });
}

/// Appends k and v to the caches, in place, and computes causal attention over the whole caches.
/// The new positions of batch entry b are cache_seqlens[b] + 0, 1, ...; each sees all earlier
/// positions and itself. Existing cache entries are neither moved nor copied. Same as Dao's
/// flash_attn_with_kvcache.
///
/// Sharding   Batch and heads may be parts of the global tensors, as for FlashAttentionKernel.
/// Errors     OutOfRange if a length is negative or the caches have no room for the new positions.
template <typename T, typename Context>
void FlashAttentionWithKvcacheKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                     const DenseTensor& v, const DenseTensor& k_cache,
                                     const DenseTensor& v_cache, const DenseTensor& cache_seqlens,
                                     DenseTensor* out, DenseTensor* k_cache_out,
                                     DenseTensor* v_cache_out) {
  const AttentionShards places = attention_shards(ctx, q, k, v, nullptr, 0);
  const auto lengths =
      std::span(cache_seqlens.data<int64_t>(), static_cast<size_t>(cache_seqlens.numel()));
  start_from_cache(k_cache, k_cache_out);
  start_from_cache(v_cache, v_cache_out);
  std::vector<compute_t<T>> lse(static_cast<size_t>(q.dims()[1] * q.dims()[2]));
  const auto room = AttentionExtents::of(q, k_cache, v_cache);  // of full caches
  for (int64_t b = 0; b < q.dims()[0]; ++b) {
    const int64_t held = lengths[static_cast<size_t>(b)];
    if (held < 0 || held > room.sk - q.dims()[1]) {
      throw_no_room_in_cache(held, room.sk, q.dims()[1]);
    }
    const DenseTensor keys = append(k, b, held, *k_cache_out);
    const DenseTensor values = append(v, b, held, *v_cache_out);
    if (q.dims().numel(1, 3) == 0) continue;
    const DenseTensor queries = q.rows(b, b + 1);
    visit_operand<T>([&]<typename W>() {
      FlashAttention<T, W> attention({queries, keys, values, nullptr,
                                      places_of_entry(places, keys.dims()[1]),
                                      /*causal=*/true,
                                      /*dropout=*/{},
                                      /*score_scale=*/0, &room});
      attention.run(out->rows(b, b + 1).template mutable_data<T>(), nullptr, lse.data());
    });
  }
}

template <typename T, typename Context>
void FlashAttentionWithKvcacheScratch(const Context& ctx, const DenseTensor& q,
                                      const DenseTensor& /*k*/, const DenseTensor& /*v*/,
                                      const DenseTensor& k_cache, const DenseTensor& v_cache,
                                      const DenseTensor& /*cache_seqlens*/, DenseTensor* /*out*/,
                                      DenseTensor* /*k_cache_out*/, DenseTensor* /*v_cache_out*/) {
  if (q.dims().numel(0, 3) == 0) return;
  visit_operand<T>([&]<typename W>() {
    plan_attention<T, W>(AttentionExtents::of(q, k_cache, v_cache), &ctx.scratch());
  });
}

PHI_REGISTER_KERNEL(flash_attention, CPU, FlashAttentionKernel, Floats);
PHI_REGISTER_SCRATCH(flash_attention, FlashAttentionScratch, StatedAttention);
PHI_REGISTER_KERNEL(flash_attention_with_kvcache, CPU, FlashAttentionWithKvcacheKernel, Floats);
PHI_REGISTER_SCRATCH(flash_attention_with_kvcache, FlashAttentionWithKvcacheScratch,
                     StatedAttention);

}  // namespace phi
