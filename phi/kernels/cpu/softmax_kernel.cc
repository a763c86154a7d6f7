// softmax and its gradient on the CPU: row by row along the last tensor dim, by blocks of columns
// along any other.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

template <typename T>
inline void softmax_rows(const T* x, int64_t rows, int64_t n, T* out) {
  using C = compute_t<T>;
  RowReader<T> reader(x, n);
  RowWriter<T> writer(out, n);
  for (int64_t r = 0; r < rows; ++r) {
    const C* row = reader.row(r);
    C* to = writer.row(r);
    const C factor = C(1) / row_exp_sum(row, n, row_max(row, n), to);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] *= factor;
    writer.done(r);
  }
}

constexpr int64_t kBlockColumns = 256;

/// Softmax down the columns [0, width) of an [n, stride] array. `block` has space for n *
/// kBlockColumns elements.
template <typename T, typename C>
inline void softmax_columns(const T* x, int64_t n, int64_t stride, int64_t width, C* block,
                            T* out) {
  C most[kBlockColumns];
  C sums[kBlockColumns] = {};
  std::fill_n(most, kBlockColumns, -std::numeric_limits<C>::infinity());
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    convert(x + k * stride, row, width);
    for (int64_t i = 0; i < width; ++i)
      most[i] = row[i] > most[i] || row[i] != row[i] ? row[i] : most[i];
  }
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    for (int64_t i = 0; i < width; ++i) row[i] = fast::exp(row[i] - most[i]);
    for (int64_t i = 0; i < width; ++i) sums[i] += row[i];
  }
  for (int64_t i = 0; i < width; ++i) sums[i] = C(1) / sums[i];
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    for (int64_t i = 0; i < width; ++i) row[i] *= sums[i];
    convert(row, out + k * stride, width);
  }
}

template <typename T>
inline void softmax_grad_rows(const T* out, const T* out_grad, int64_t rows, int64_t n, T* x_grad) {
  using C = compute_t<T>;
  RowReader<T> outs(out, n);
  RowReader<T> grads(out_grad, n);
  RowWriter<T> writer(x_grad, n);
  for (int64_t r = 0; r < rows; ++r) {
    const C* y = outs.row(r);
    const C* g = grads.row(r);
    C* to = writer.row(r);
    const C sum = row_sum<C>(n, [=](int64_t i) { return y[i] * g[i]; });
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = y[i] * (g[i] - sum);
    writer.done(r);
  }
}

constexpr int64_t kGradColumns = 1024;

/// The gradient down the columns [0, width) of [n, stride] arrays.
template <typename T>
inline void softmax_grad_columns(const T* out, const T* out_grad, int64_t n, int64_t stride,
                                 int64_t width, T* x_grad) {
  using C = compute_t<T>;
  RowReader<T> outs(out, width, stride);
  RowReader<T> grads(out_grad, width, stride);
  RowWriter<T> writer(x_grad, width, stride);
  C sums[kGradColumns] = {};
  for (int64_t k = 0; k < n; ++k) {
    const C* y = outs.row(k);
    const C* g = grads.row(k);
    for (int64_t i = 0; i < width; ++i) sums[i] += y[i] * g[i];
  }
  for (int64_t k = 0; k < n; ++k) {
    const C* y = outs.row(k);
    const C* g = grads.row(k);
    C* to = writer.row(k);
#pragma GCC ivdep
    for (int64_t i = 0; i < width; ++i) to[i] = y[i] * (g[i] - sums[i]);
    writer.done(k);
  }
}

}  // namespace

/// out = exp(x - max) / sum(exp(x - max)) along `axis`.
template <typename T, typename Context>
void SoftmaxKernel(const Context&, const DenseTensor& x, int axis, DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisView view(x.dims(), axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (view.inner == 1)
    return run_best_isa<compute_t<T>>([=] { softmax_rows(from, view.outer, view.n, to); });
  std::vector<compute_t<T>> buffer(view.n * kBlockColumns);
  run_best_isa<compute_t<T>>([=, block = buffer.data()] {
    view.for_each_block(kBlockColumns, [&](int64_t start, int64_t width) {
      softmax_columns(from + start, view.n, view.inner, width, block, to + start);
    });
  });
}

/// x_grad = out * (out_grad - sum(out * out_grad)) along `axis`. x_grad may be out_grad.
template <typename T, typename Context>
void SoftmaxGradKernel(const Context&, const DenseTensor& out, const DenseTensor& out_grad,
                       int axis, DenseTensor* x_grad) {
  if (out.numel() == 0) return;
  const AxisView view(out.dims(), axis);
  const T* y = out.data<T>();
  const T* g = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  if (view.inner == 1)
    return run_best_isa<compute_t<T>>([=] { softmax_grad_rows(y, g, view.outer, view.n, to); });
  run_best_isa<compute_t<T>>([=] {
    view.for_each_block(kGradColumns, [&](int64_t start, int64_t width) {
      softmax_grad_columns(y + start, g + start, view.n, view.inner, width, to + start);
    });
  });
}

PHI_REGISTER_KERNEL(softmax, CPU, SoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(softmax_grad, CPU, SoftmaxGradKernel, Floats);

}  // namespace phi
