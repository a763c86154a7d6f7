// Attention problems that the tests of the kernel and of its gradient share.
#pragma once

#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {

struct AttentionProblem {
  int64_t batch = 1, sq = 1, sk = 1, heads = 1, kv_heads = 1, width = 4, value_width = 4;
  bool causal = false;
  int mask_kind = 0;  // 1: [1, 1, sq, sk], 2: [batch, heads, sq, sk]
  float dropout = 0;
  int rare_mask = -1;  // hides what this one of rare_masks does, with mask_kind 1

  Dims q_dims() const { return {batch, sq, heads, width}; }
  Dims k_dims() const { return {batch, sk, kv_heads, width}; }
  Dims v_dims() const { return {batch, sk, kv_heads, value_width}; }
  Dims out_dims() const { return {batch, sq, heads, value_width}; }
  Dims lse_dims() const { return {batch, heads, sq}; }
  Dims mask_dims() const {
    return mask_kind == 1 ? Dims{1, 1, sq, sk} : Dims{batch, heads, sq, sk};
  }
  Values q() const { return random_values(q_dims().numel(), 1); }
  Values k() const { return random_values(k_dims().numel(), 2, -2, 2); }
  Values v() const { return random_values(v_dims().numel(), 3); }
  Values out_grad() const { return random_values(out_dims().numel(), 5); }
  Values mask() const {
    Values mask = random_values(mask_dims().numel(), 4);
    const RareMask rare =
        rare_mask < 0 ? RareMask() : rare_masks(sq, sk)[static_cast<size_t>(rare_mask)];
    for (size_t i = 0; i < mask.size(); ++i) {
      if (rare_mask < 0 ? i % 5 == 0 : rare.hidden[i]) mask[i] = -double{INFINITY};
    }
    return mask;
  }
  std::string name() const {
    return q_dims().to_string() + " x " + k_dims().to_string() + (causal ? " causal" : "") +
           " mask " + std::to_string(mask_kind) + " dropout " + std::to_string(dropout) +
           (rare_mask < 0 ? "" : " hiding " + rare_masks(sq, sk)[rare_mask].name);
  }
};

/// Every mask over tiles of 64 queries and 256 keys; every grouping of heads; extents of 1 and
/// around the tiles; more queries than keys.
inline std::vector<AttentionProblem> rare_attention_problems() {
  std::vector<AttentionProblem> all;
  for (int mask = 0; mask < static_cast<int>(rare_masks(1, 1).size()); ++mask) {
    for (const bool causal : {false, true}) {
      for (const auto& [sq, sk] : {std::pair{1, 1}, {3, 5}, {5, 3}, {65, 257}}) {
        all.push_back({.sq = sq, .sk = sk, .causal = causal, .mask_kind = 1, .rare_mask = mask});
      }
    }
  }
  for (const auto& [heads, kv_heads] : kRareHeads) {
    all.push_back({.batch = 2, .sq = 3, .sk = 5, .heads = heads, .kv_heads = kv_heads});
    all.push_back({.sq = 1, .sk = 1, .heads = heads, .kv_heads = kv_heads, .causal = true});
  }
  for (const int64_t sq : extents_around(64)) all.push_back({.sq = sq, .sk = 7, .causal = true});
  for (const int64_t sk : extents_around(32)) all.push_back({.sq = 3, .sk = sk, .causal = true});
  for (const int64_t width : {1, 3, 33})
    all.push_back({.sq = 5, .sk = 3, .width = width, .value_width = width, .causal = true});
  return all;
}

}  // namespace phi::testing
