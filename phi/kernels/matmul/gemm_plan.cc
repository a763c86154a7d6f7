// Folds batched matmuls into as few GEMMs as possible.
#include "phi/kernels/matmul/gemm_plan.h"

#include <algorithm>

namespace phi {
namespace {

/// The stride in elements of tensor dim `d` of the broadcast batch.
int64_t step_along(const MatrixBatch& x, int batch_ndim, int d) {
  const int own = d - (batch_ndim - x.batch.ndim());
  if (own < 0 || x.batch[own] == 1) return 0;
  return x.batch.numel(own + 1, x.batch.ndim()) * x.matrix_size();
}

/// Merges batch members whose rows are consecutive in memory into one matrix: more rows of a and c
/// if b is the same for all, or a longer sum if c is.
void fold(const MatrixBatch& a, const MatrixBatch& b, GemmPlan* plan) {
  GemmShape& s = plan->shape;
  const int last_kept = plan->kept.ndim() - 1;
  if (last_kept >= 0 && !s.trans_a && plan->kept.stride(last_kept, 0) == a.matrix_size() &&
      plan->kept.stride(last_kept, 1) == 0) {
    s.m *= plan->kept.size(last_kept);
    plan->kept.remove(last_kept);
  }
  const int last_summed = plan->summed.ndim() - 1;
  if (last_summed >= 0 && s.trans_a && !s.trans_b &&
      plan->summed.stride(last_summed, 0) == a.matrix_size() &&
      plan->summed.stride(last_summed, 1) == b.matrix_size()) {
    s.k *= plan->summed.size(last_summed);
    plan->summed.remove(last_summed);
  }
}

}  // namespace

MatrixBatch matrices_of(const Dims& dims, VectorIs vector) {
  if (dims.ndim() == 1) {
    const bool row = vector == VectorIs::kRow;
    return {.batch = {}, .rows = row ? 1 : dims[0], .columns = row ? dims[0] : 1};
  }
  MatrixBatch result;
  for (int d = 0; d < dims.ndim() - 2; ++d) result.batch.push_back(dims[d]);
  result.rows = dims[dims.ndim() - 2];
  result.columns = dims.back();
  return result;
}

Dims broadcast_batch(const Dims& a, const Dims& b) {
  const int n = std::max(a.ndim(), b.ndim());
  Dims batch;
  for (int d = 0; d < n; ++d) {
    const int in_a = d - (n - a.ndim());
    const int in_b = d - (n - b.ndim());
    const int64_t size = in_a < 0 ? 1 : a[in_a];
    batch.push_back(size == 1 && in_b >= 0 ? b[in_b] : size);
  }
  return batch;
}

GemmPlan plan_gemms(const GemmOperand& a, const GemmOperand& b, const MatrixBatch& c) {
  const MatrixBatch& x = a.matrices;
  const MatrixBatch& y = b.matrices;
  GemmPlan plan;
  plan.shape = {.m = a.transposed ? x.columns : x.rows,
                .n = b.transposed ? y.rows : y.columns,
                .k = a.transposed ? x.rows : x.columns,
                .trans_a = a.transposed,
                .trans_b = b.transposed};
  plan.lda = x.columns;
  plan.ldb = y.columns;
  const Dims batch = broadcast_batch(x.batch, y.batch);
  for (int d = 0; d < batch.ndim(); ++d) {
    const int64_t c_step = step_along(c, batch.ndim(), d);
    const bool stays = batch[d] != 1 && c_step == 0;
    (stays ? plan.summed : plan.kept)
        .append(batch[d], {step_along(x, batch.ndim(), d), step_along(y, batch.ndim(), d), c_step});
  }
  fold(x, y, &plan);
  return plan;
}

}  // namespace phi
