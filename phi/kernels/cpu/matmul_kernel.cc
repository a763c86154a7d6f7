// Matrix products on the CPU: batches are folded into as few GEMM calls as the strides allow.
#include "phi/kernels/matmul_kernel.h"

#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/gemm.h"

namespace phi {
namespace {

/// One product of matrices, and where each member of the batch starts.
struct Plan {
  GemmShape shape;
  int64_t lda = 0;
  int64_t ldb = 0;
  Dims batch;      // broadcast batch extents
  Dims x_strides;  // in matrices, 0 where x is broadcast
  Dims y_strides;
};

/// Strides, in matrices, of an argument's batch under the broadcast batch.
Dims batch_strides(const Dims& dims, const Dims& batch) {
  const int own = std::max(dims.ndim() - 2, 0);
  Dims strides = Dims::filled(batch.ndim(), 0);
  int64_t step = 1;
  for (int d = own - 1; d >= 0; --d) {
    strides[batch.ndim() - own + d] = dims[d] == 1 ? 0 : step;
    step *= dims[d];
  }
  return strides;
}

Dims broadcast_batch(const Dims& x, const Dims& y) {
  const int x_batch = std::max(x.ndim() - 2, 0);
  const int y_batch = std::max(y.ndim() - 2, 0);
  const int n = std::max(x_batch, y_batch);
  Dims batch;
  for (int d = 0; d < n; ++d) {
    const int64_t a = d < n - x_batch ? 1 : x[d - (n - x_batch)];
    const int64_t b = d < n - y_batch ? 1 : y[d - (n - y_batch)];
    batch.push_back(a == 1 ? b : a);
  }
  return batch;
}

Plan make_plan(const Dims& x, const Dims& y, bool transpose_x, bool transpose_y) {
  const int64_t x_rows = x.ndim() == 1 ? 1 : x[x.ndim() - 2];
  const int64_t x_columns = x.back();
  const int64_t y_rows = y.ndim() == 1 ? y[0] : y[y.ndim() - 2];
  const int64_t y_columns = y.ndim() == 1 ? 1 : y.back();
  Plan plan;
  plan.shape.trans_a = transpose_x && x.ndim() > 1;
  plan.shape.trans_b = transpose_y && y.ndim() > 1;
  plan.shape.m = plan.shape.trans_a ? x_columns : x_rows;
  plan.shape.k = plan.shape.trans_a ? x_rows : x_columns;
  plan.shape.n = plan.shape.trans_b ? y_rows : y_columns;
  plan.lda = x_columns;
  plan.ldb = y_columns;
  if (x.ndim() <= 2 && y.ndim() <= 2) return plan;
  if (y.ndim() <= 2 && !plan.shape.trans_a) {  // all rows of x against one matrix: one product
    plan.shape.m = x.numel(0, x.ndim() - 1);
    return plan;
  }
  plan.batch = broadcast_batch(x, y);
  plan.x_strides = batch_strides(x, plan.batch);
  plan.y_strides = batch_strides(y, plan.batch);
  return plan;
}

int64_t start_of(int64_t member, const Dims& batch, const Dims& strides) {
  int64_t start = 0;
  for (int d = batch.ndim() - 1; d >= 0; --d) {
    start += member % batch[d] * strides[d];
    member /= batch[d];
  }
  return start;
}

}  // namespace

template <typename T>
void MatmulKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
                  bool transpose_y, DenseTensor* out) {
  if (out->numel() == 0) return;
  const Plan plan = make_plan(x.dims(), y.dims(), transpose_x, transpose_y);
  const GemmShape& s = plan.shape;
  const T* x_data = x.data<T>();
  const T* y_data = y.data<T>();
  T* out_data = out->mutable_data<T>();
  const int64_t members = plan.batch.numel();
  for (int64_t member = 0; member < members; ++member) {
    const T* a = x_data + start_of(member, plan.batch, plan.x_strides) * s.m * s.k;
    const T* b = y_data + start_of(member, plan.batch, plan.y_strides) * s.k * s.n;
    T* c = out_data + member * s.m * s.n;
    gemm<T>(s, 1, a, plan.lda, b, plan.ldb, 0, c, s.n);
  }
}

PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, float, double, bfloat16, float16);

}  // namespace phi
