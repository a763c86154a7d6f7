// Batches of matrix products as GEMM calls.
#include "phi/kernels/cpu/matmul/batched_product.h"

#include <algorithm>
#include <memory>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/strided_walk.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// The GEMM of one member and the loops around it. Offsets count elements of a, b and c.
struct Plan {
  GemmShape shape;
  int64_t lda;
  int64_t ldb;
  StridedWalk<3> kept;    // each turn makes another matrix of c
  StridedWalk<3> summed;  // each turn adds to the same
};

/// Elements from one member to the next along tensor dim `d` of the broadcast batch.
int64_t step_along(const MatrixBatch& x, int batch_ndim, int d) {
  const int own = d - (batch_ndim - x.batch.ndim());
  if (own < 0 || x.batch[own] == 1) return 0;
  return x.batch.numel(own + 1, x.batch.ndim()) * x.matrix_size();
}

/// Rows that follow each other in memory from member to member are one matrix: more rows of a and c
/// where b stays, a longer sum where c stays.
void fold(const MatrixBatch& a, const MatrixBatch& b, Plan* plan) {
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

Plan make_plan(const ProductOperand& a, const ProductOperand& b, const MatrixBatch& c) {
  const MatrixBatch& x = a.matrices;
  const MatrixBatch& y = b.matrices;
  Plan plan;
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

template <typename T, typename Out>
void multiply(const Plan& plan, const T* a, const T* b, Out* c) {
  const GemmShape& s = plan.shape;
  if (plan.summed.turns() == 0) std::fill_n(c, s.m * s.n, Out(0));
  accumulator_t<T> beta = 0;
  plan.summed.for_each([&](const std::array<int64_t, 3>& at) {
    gemm<T>(s, 1, a + at[0], plan.lda, b + at[1], plan.ldb, beta, c, s.n);
    beta = 1;
  });
}

/// Several members summed in 16 bits would be rounded after each.
template <typename T>
void multiply_16bit(const Plan& plan, const T* a, const T* b, T* c) {
  if (plan.summed.turns() == 1) return multiply(plan, a, b, c);
  const int64_t n = plan.shape.m * plan.shape.n;
  const auto sum = std::make_unique_for_overwrite<float[]>(n);
  multiply(plan, a, b, sum.get());
  convert(sum.get(), c, n);
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

template <typename T>
void batched_product(const ProductOperand& a, const T* a_data, const ProductOperand& b,
                     const T* b_data, const MatrixBatch& c, T* c_data) {
  const Plan plan = make_plan(a, b, c);
  if (plan.shape.m == 0 || plan.shape.n == 0) return;
  plan.kept.for_each([&](const std::array<int64_t, 3>& at) {
    if constexpr (kIs16Bit<T>) {
      multiply_16bit(plan, a_data + at[0], b_data + at[1], c_data + at[2]);
    } else {
      multiply(plan, a_data + at[0], b_data + at[1], c_data + at[2]);
    }
  });
}

#define PHI_INSTANTIATE_PRODUCT(T)                                                                \
  template void batched_product(const ProductOperand&, const T*, const ProductOperand&, const T*, \
                                const MatrixBatch&, T*)
PHI_INSTANTIATE_PRODUCT(float);
PHI_INSTANTIATE_PRODUCT(double);
PHI_INSTANTIATE_PRODUCT(bfloat16);
PHI_INSTANTIATE_PRODUCT(float16);
PHI_INSTANTIATE_PRODUCT(complex64);
PHI_INSTANTIATE_PRODUCT(complex128);
#undef PHI_INSTANTIATE_PRODUCT

}  // namespace phi
