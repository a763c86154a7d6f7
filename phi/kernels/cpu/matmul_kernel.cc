// Matrix products on the CPU: batches are folded into as few GEMM calls as the strides allow.
#include "phi/kernels/matmul_kernel.h"

#include <algorithm>
#include <memory>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/convert.h"
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

template <typename T>
void multiply(const Plan& plan, const T* x, const T* y, T* out) {
  const GemmShape& s = plan.shape;
  gemm<T>(s, T(1), x, plan.lda, y, plan.ldb, T(0), out, s.n);
}

/// 16-bit: y is widened once, x and the result in panels of rows, so that the extra memory is y's
/// size plus a panel.
template <typename T>
void multiply_16bit(const Plan& plan, const T* x, const T* y, T* out) {
  GemmShape s = plan.shape;
  if (s.m == 0 || s.n == 0) return;
  constexpr int64_t kPanelRows = 256;
  const int64_t rows = s.m;
  // A transposed x is stored by columns, so it is widened whole.
  const int64_t x_rows = s.trans_a ? rows : std::min(rows, kPanelRows);
  const auto wide_y = std::make_unique_for_overwrite<float[]>(s.n * s.k);
  const auto wide_x = std::make_unique_for_overwrite<float[]>(x_rows * s.k);
  const auto wide_out = std::make_unique_for_overwrite<float[]>(std::min(rows, kPanelRows) * s.n);
  convert(y, wide_y.get(), s.n * s.k);
  if (s.trans_a) convert(x, wide_x.get(), rows * s.k);
  for (int64_t begin = 0; begin < rows; begin += kPanelRows) {
    s.m = std::min(kPanelRows, rows - begin);
    const float* a = wide_x.get() + (s.trans_a ? begin : 0);
    if (!s.trans_a) convert(x + begin * s.k, wide_x.get(), s.m * s.k);
    gemm<float>(s, 1.0f, a, plan.lda, wide_y.get(), plan.ldb, 0.0f, wide_out.get(), s.n);
    convert(wide_out.get(), out + begin * s.n, s.m * s.n);
  }
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
    if constexpr (kIs16Bit<T>) {
      multiply_16bit(plan, a, b, c);
    } else {
      multiply(plan, a, b, c);
    }
  }
}

PHI_REGISTER_KERNEL(matmul, CPU, MatmulKernel, float, double, bfloat16, float16);

}  // namespace phi
