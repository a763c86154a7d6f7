// Scratch memory of attention and its gradient, from the extents of one problem. The members of
// FlashAttention and FlashAttentionGrad allocate it; the statements of their kernels plan it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/core/storage/planned_scratch.h"
#include "phi/kernels/cpu/attention/attention_tiles.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"

namespace phi {

/// float32 is not stated: its memory does not depend on shapes, and `autophi calibrate` measures
/// it.
using StatedAttention = join_t<Halves, TypeList<double>>;

/// Plans the memory of a PackedRight<W> for the lifetime of this object.
template <typename W>
class PackedScratch {
 public:
  /// It packs [k, n] matrices, or none.
  PackedScratch(PlannedScratch* scratch, int64_t k, int64_t n, bool packs = true)
      : matrix_(*scratch, packs ? PackedRight<W>::packed_bytes(k, n) : 0) {}

 private:
  PlannedScratch::Block matrix_;
};

/// Plans the memory of an OperandTile<C, W> for the lifetime of this object.
template <typename C, typename W>
class TileScratch {
 public:
  explicit TileScratch(PlannedScratch* scratch)
      : numbers_(*scratch, OperandTile<C, W>::kNumberBytes),
        operands_(*scratch, OperandTile<C, W>::kOperandBytes) {}

 private:
  PlannedScratch::Block numbers_, operands_;
};

/// Plans the memory of matmuls with operands of type W and up to this k.
template <typename W>
void plan_steps(int64_t steps, PlannedScratch* scratch) {
  if constexpr (std::is_same_v<W, bfloat16>) plan_reserved_steps(steps, scratch);
}

/// Plans the memory of FlashAttention<T, W>.
template <typename T, typename W>
void plan_attention(const AttentionExtents& e, PlannedScratch* scratch) {
  const PackedScratch<W> keys(scratch, e.width, e.sk), values(scratch, e.sk, e.value_width);
  const TileScratch<compute_t<T>, W> weights(scratch);
  plan_steps<W>(e.forward_steps(), scratch);
}

/// Which gradients of FlashAttentionGrad are wanted.
struct WantedGradients {
  bool q, k, v;
};

/// Plans the memory of FlashAttentionGrad<T, W>.
template <typename T, typename W>
void plan_attention_grad(const AttentionExtents& e, const WantedGradients& wanted,
                         PlannedScratch* scratch) {
  const PackedScratch<W> score_keys(scratch, e.width, e.sk);
  const PackedScratch<W> keys(scratch, e.sk, e.width, wanted.q);
  const PackedScratch<W> values(scratch, e.value_width, e.sk);
  const PackedScratch<W> queries(scratch, e.query_rows(), e.width, wanted.k);
  const PackedScratch<W> out_grads(scratch, e.query_rows(), e.value_width, wanted.v);
  const TileScratch<compute_t<T>, W> weights(scratch), slopes(scratch);
  plan_steps<W>(e.backward_steps(), scratch);
}

}  // namespace phi
