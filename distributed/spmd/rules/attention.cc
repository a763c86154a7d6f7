// Attention rules as factors: b batch, h heads, s sequence, d head dim.
#include "distributed/spmd/rules/attention.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {

namespace {

// q, k and v; their sequences and head dims are whole.
Factors attention_inputs(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v) {
  PHI_CHECK(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4,
            errors::InvalidArgument("q {}, k {} and v {} must be [batch, sequence, heads, "
                                    "head_dim].",
                                    q.shape.to_string(), k.shape.to_string(), v.shape.to_string()));
  Factors rule;
  if (k.shape[2] != q.shape[2]) rule.divides('h', k.shape[2]);
  return rule.input(q, "b_h_").input(k, "b_h_").input(v, "b_h_").last_input_follows();
}

void add_seed_and_mask(Factors* rule, const TensorSpec* seed_offset, const TensorSpec* attn_mask) {
  if (seed_offset == nullptr) {
    rule->absent_input();
  } else {
    rule->input(*seed_offset, "_");
  }
  if (attn_mask == nullptr) {
    rule->absent_input();
    return;
  }
  // The mask may have size 1 for any of its dims.
  FactorNames names("bh__");
  PHI_CHECK(attn_mask->ndim() == 4,
            errors::InvalidArgument("attn_mask is {}, expected [batch, heads, queries, keys].",
                                    attn_mask->shape.to_string()));
  for (int d = 0; d < 4; ++d) {
    if (attn_mask->shape[d] == 1) names[d] = '1';
  }
  rule->input(*attn_mask, names);
}

}  // namespace

SpmdRule FlashAttentionInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v,
                                 const TensorSpec* fixed_seed_offset, const TensorSpec* attn_mask,
                                 float, bool, bool, bool) {
  Factors rule = attention_inputs(q, k, v);
  add_seed_and_mask(&rule, fixed_seed_offset, attn_mask);
  return rule.output("b_h_").output("bh__").output("bh_").output("_").combined("bh");
}

SpmdRule FlashAttentionGradInferSpmd(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v,
                                     const TensorSpec& out, const TensorSpec& softmax_lse,
                                     const TensorSpec* seed_offset, const TensorSpec* attn_mask,
                                     const TensorSpec& out_grad) {
  Factors rule = attention_inputs(q, k, v);
  rule.input(out, "b_h_").input(softmax_lse, "bh_");
  add_seed_and_mask(&rule, seed_offset, attn_mask);
  return rule.input(out_grad, "b_h_").output_like(0).output_like(1).output_like(2);
}

SpmdRule FlashAttentionWithKvcacheInferSpmd(const TensorSpec& q, const TensorSpec& k,
                                            const TensorSpec& v, const TensorSpec& k_cache,
                                            const TensorSpec& v_cache,
                                            const TensorSpec& cache_seqlens) {
  Factors rule = attention_inputs(q, k, v);
  rule.input(k_cache, "b_h_").input(v_cache, "b_h_");
  rule.input(cache_seqlens, "b").last_input_follows();
  return rule.output("b_h_").output("b_h_").output("b_h_");
}

SpmdRule FusedRopeInferSpmd(const TensorSpec& q, const TensorSpec* k, const TensorSpec* v,
                            const TensorSpec* sin, const TensorSpec* cos,
                            const TensorSpec* position_ids, bool, bool time_major, float) {
  const std::string_view names = time_major ? "sbhd" : "bshd";
  // A single key or value head is shared by all query heads and cannot be split with them.
  const auto names_of = [&](const TensorSpec& x) {
    FactorNames own(names);
    if (x.ndim() == 4 && x.shape[2] == 1 && q.shape[2] != 1) own[2] = '1';
    return own;
  };
  Factors rule;
  rule.any_size("h").input(q, names);  // k and v may have fewer heads
  for (const TensorSpec* x : {k, v}) {
    if (x == nullptr) {
      rule.absent_input();
      continue;
    }
    rule.input(*x, names_of(*x));
  }
  for (const TensorSpec* table : {sin, cos}) {
    if (table == nullptr) {
      rule.absent_input();
    } else {
      // With position_ids the op looks rows up in a table of any length.
      const std::string_view own = position_ids != nullptr ? "111d" : "1s1d";
      rule.input(*table, table->ndim() == 2 ? (position_ids != nullptr ? "1d" : "sd") : own)
          .last_input_follows();
    }
  }
  if (position_ids == nullptr) {
    rule.absent_input();
  } else {
    rule.input(*position_ids, "bs");
  }
  rule.output(names);
  for (const TensorSpec* x : {k, v}) {
    if (x == nullptr) {
      rule.absent_output();
    } else {
      rule.output(names_of(*x));
    }
  }
  // Without given positions the kernel computes them from its position in the sequence.
  const bool positions_given = sin != nullptr && position_ids == nullptr;
  // Nothing is summed over heads: a key or value without h is equal on the ranks that split h.
  return rule.combined("h").whole(positions_given ? "d" : "sd");
}

}  // namespace phi::distributed
