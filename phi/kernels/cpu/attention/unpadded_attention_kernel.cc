// Attention over sequences of unequal length, and its gradient, on the CPU. Each sequence is a
// separate attention problem.
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fused_attention.h"
#include "phi/kernels/cpu/attention/attention_scratch.h"
#include "phi/kernels/cpu/attention/flash_attention.h"
#include "phi/kernels/cpu/attention/flash_attention_grad.h"

namespace phi {
namespace {

/// The queries and keys of one sequence.
struct Sequence {
  int64_t q_begin, q_end;
  int64_t k_begin, k_end;
  int64_t queries() const { return q_end - q_begin; }
};

std::vector<int64_t> read_lengths(const DenseTensor& lengths) {
  std::vector<int64_t> values(lengths.numel());
  visit_dtype(lengths.dtype(),
              [&]<typename T>() { convert(lengths.data<T>(), values.data(), lengths.numel()); });
  return values;
}

/// Errors   OutOfRange if `begins` does not ascend from 0 to at most `all`, on every rank alike,
///          because all ranks have all of `begins`.
void check(const std::vector<int64_t>& begins, int64_t all, const char* name) {
  bool ascends = begins.front() == 0 && begins.back() <= all;
  for (size_t i = 1; i < begins.size(); ++i) ascends &= begins[i - 1] <= begins[i];
  if (!ascends) throw_sequences_do_not_ascend(name, all, begins.back());
}

std::vector<Sequence> sequences(const DenseTensor& cu_seqlens_q, const DenseTensor& cu_seqlens_k,
                                int64_t queries, int64_t keys) {
  const std::vector<int64_t> qs = read_lengths(cu_seqlens_q);
  const std::vector<int64_t> ks = read_lengths(cu_seqlens_k);
  check(qs, queries, "cu_seqlens_q");
  check(ks, keys, "cu_seqlens_k");
  std::vector<Sequence> found;
  for (size_t i = 0; i + 1 < qs.size(); ++i) found.push_back({qs[i], qs[i + 1], ks[i], ks[i + 1]});
  return found;
}

/// Returns positions [begin, end) of [all, heads, width] as a batch of one.
DenseTensor entry(const DenseTensor& x, int64_t begin, int64_t end) {
  return x.rows(begin, end).view({1, end - begin, x.dims()[1], x.dims()[2]});
}

/// The extents for which scratch memory is allocated: one sequence of all queries and keys, because
/// the lengths of sequences are data.
AttentionExtents all_in_one(const DenseTensor& q, const DenseTensor& k, const DenseTensor& v) {
  return {q.dims()[0], k.dims()[0], q.dims()[2], v.dims()[2]};
}

/// Each sequence has its own dropout seed.
AttentionDropout dropout_of(AttentionDropout all, size_t sequence, int64_t keys) {
  all.seed += sequence_seed_shift(sequence);
  all.keys = keys;
  return all;
}

template <typename T>
T* from_position(DenseTensor* x, int64_t position) {
  return x ? x->mutable_data<T>() + position * x->dims()[1] * x->dims()[2] : nullptr;
}

}  // namespace

/// flash_attention for each sequence. Scores are multiplied by `scale`, or by 1 / sqrt(head_dim) if
/// `scale` is not positive. Rows after the last sequence become 0.
template <typename T, typename Context>
void FlashAttnUnpaddedKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                             const DenseTensor& v, const DenseTensor& cu_seqlens_q,
                             const DenseTensor& cu_seqlens_k, const DenseTensor* fixed_seed_offset,
                             const Scalar& /*max_seqlen_q*/, const Scalar& /*max_seqlen_k*/,
                             float scale, float dropout, bool causal, bool is_test,
                             DenseTensor* out, DenseTensor* /*softmax*/, DenseTensor* softmax_lse,
                             DenseTensor* seed_offset) {
  using C = compute_t<T>;
  const int64_t all = q.dims()[0];
  const int64_t heads = q.dims()[1];
  const auto drop = AttentionDropout::make(fixed_seed_offset, dropout, is_test, k.dims()[0]);
  if (seed_offset) {
    auto* values = seed_offset->mutable_data<int64_t>();
    values[0] = static_cast<int64_t>(drop.seed);
    values[1] = static_cast<int64_t>(drop.offset);
  }
  const auto list = sequences(cu_seqlens_q, cu_seqlens_k, all, k.dims()[0]);
  C* lse = softmax_lse->mutable_data<C>();
  std::fill_n(out->mutable_data<T>(), out->numel(), T(0.0f));
  std::fill_n(lse, softmax_lse->numel(), -std::numeric_limits<C>::infinity());
  std::vector<C> rows;
  const AttentionExtents room = all_in_one(q, k, v);
  for (size_t i = 0; i < list.size(); ++i) {
    const Sequence& s = list[i];
    const int64_t n = s.queries();
    const int64_t keys = s.k_end - s.k_begin;
    if (n * heads == 0) continue;
    const AttentionShards places{sequence_place(ctx.input_box(0, q.dims()), n),
                                 sequence_place(ctx.input_box(1, k.dims()), keys),
                                 {}};
    rows.resize(n * heads);
    visit_operand<T>([&]<typename W>() {
      FlashAttention<T, W> attention({entry(q, s.q_begin, s.q_end), entry(k, s.k_begin, s.k_end),
                                      entry(v, s.k_begin, s.k_end), nullptr, places, causal,
                                      dropout_of(drop, i, keys), scale, &room});
      attention.run(from_position<T>(out, s.q_begin), nullptr, rows.data());
    });
    for (int64_t h = 0; h < heads; ++h)
      std::copy_n(rows.data() + h * n, n, lse + h * all + s.q_begin);
  }
}

template <typename T, typename Context>
void FlashAttnUnpaddedScratch(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                              const DenseTensor& v, const DenseTensor& /*cu_seqlens_q*/,
                              const DenseTensor& /*cu_seqlens_k*/,
                              const DenseTensor* /*fixed_seed_offset*/,
                              const Scalar& /*max_seqlen_q*/, const Scalar& /*max_seqlen_k*/,
                              float /*scale*/, float /*dropout*/, bool /*causal*/, bool /*is_test*/,
                              DenseTensor* /*out*/, DenseTensor* /*softmax*/,
                              DenseTensor* /*softmax_lse*/, DenseTensor* /*seed_offset*/) {
  visit_operand<T>(
      [&]<typename W>() { plan_attention<T, W>(all_in_one(q, k, v), &ctx.scratch()); });
}

/// flash_attention_grad for each sequence. An output that is not wanted is null.
template <typename T, typename Context>
void FlashAttnUnpaddedGradKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                 const DenseTensor& v, const DenseTensor& cu_seqlens_q,
                                 const DenseTensor& cu_seqlens_k, const DenseTensor& out,
                                 const DenseTensor& softmax_lse, const DenseTensor* seed_offset,
                                 const DenseTensor& out_grad, float scale, float dropout,
                                 bool causal, bool is_test, DenseTensor* q_grad,
                                 DenseTensor* k_grad, DenseTensor* v_grad) {
  using C = compute_t<T>;
  const int64_t all = q.dims()[0];
  const int64_t heads = q.dims()[1];
  const auto drop = AttentionDropout::make(seed_offset, dropout, is_test, k.dims()[0]);
  for (DenseTensor* grad : {q_grad, k_grad, v_grad})
    if (grad) std::fill_n(grad->mutable_data<T>(), grad->numel(), T(0.0f));
  const C* lse = softmax_lse.data<C>();
  std::vector<C> rows;
  const auto list = sequences(cu_seqlens_q, cu_seqlens_k, all, k.dims()[0]);
  const AttentionExtents room = all_in_one(q, k, v);
  for (size_t i = 0; i < list.size(); ++i) {
    const Sequence& s = list[i];
    const int64_t n = s.queries();
    const int64_t keys = s.k_end - s.k_begin;
    const AttentionShards places{sequence_place(ctx.input_box(0, q.dims()), n),
                                 sequence_place(ctx.input_box(1, k.dims()), keys),
                                 {}};
    places.check_keys();
    rows.resize(n * heads);
    for (int64_t h = 0; h < heads; ++h)
      std::copy_n(lse + h * all + s.q_begin, n, rows.data() + h * n);
    const AttentionGradients<T> wanted{from_position<T>(q_grad, s.q_begin),
                                       from_position<T>(k_grad, s.k_begin),
                                       from_position<T>(v_grad, s.k_begin)};
    visit_operand<T>([&]<typename W>() {
      const DenseTensor queries = entry(q, s.q_begin, s.q_end);
      FlashAttentionGrad<T, W> gradient(
          {queries, entry(k, s.k_begin, s.k_end), entry(v, s.k_begin, s.k_end), nullptr, places,
           causal, dropout_of(drop, i, keys), scale, &room},
          places, entry(out, s.q_begin, s.q_end), entry(out_grad, s.q_begin, s.q_end), rows.data(),
          wanted);
      gradient.run();
    });
  }
}

template <typename T, typename Context>
void FlashAttnUnpaddedGradScratch(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                  const DenseTensor& v, const DenseTensor& /*cu_seqlens_q*/,
                                  const DenseTensor& /*cu_seqlens_k*/, const DenseTensor& /*out*/,
                                  const DenseTensor& /*softmax_lse*/,
                                  const DenseTensor* /*seed_offset*/,
                                  const DenseTensor& /*out_grad*/, float /*scale*/,
                                  float /*dropout*/, bool /*causal*/, bool /*is_test*/,
                                  DenseTensor* q_grad, DenseTensor* k_grad, DenseTensor* v_grad) {
  const WantedGradients wanted{q_grad != nullptr, k_grad != nullptr, v_grad != nullptr};
  visit_operand<T>([&]<typename W>() {
    plan_attention_grad<T, W>(all_in_one(q, k, v), wanted, &ctx.scratch());
  });
}

PHI_REGISTER_KERNEL(flash_attn_unpadded, CPU, FlashAttnUnpaddedKernel, Floats);
PHI_REGISTER_SCRATCH(flash_attn_unpadded, FlashAttnUnpaddedScratch, StatedAttention);
PHI_REGISTER_KERNEL(flash_attn_unpadded_grad, CPU, FlashAttnUnpaddedGradKernel, Floats);
PHI_REGISTER_SCRATCH(flash_attn_unpadded_grad, FlashAttnUnpaddedGradScratch, StatedAttention);

}  // namespace phi
