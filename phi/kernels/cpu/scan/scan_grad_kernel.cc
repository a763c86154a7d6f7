// Gradients of cumprod and logcumsumexp on the CPU. Both are recurrences without divisions, so that
// elements of 0 and sums of exponentials that overflow cost no accuracy.
#include <cmath>
#include <vector>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/real_type.h"

namespace phi {
namespace {

/// One line of an array in N, which is double or complex128, in the order of the scan.
template <typename N = double>
class ScanLine {
 public:
  explicit ScanLine(int64_t n) : values_(static_cast<size_t>(n)) {}
  template <typename T>
  const N* read(const T* first, int64_t stride) {
    for (N& value : values_) {
      value = static_cast<N>(static_cast<compute_t<T>>(*first));
      first += stride;
    }
    return values_.data();
  }

 private:
  std::vector<N> values_;
};

/// Calls f(offset of a line's first element in the order of the scan, stride) for each line.
template <typename F>
void for_each_scan_line(const AxisView& view, bool reverse, F&& f) {
  const int64_t stride = reverse ? -view.inner : view.inner;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      f(view.start(o, i) + (reverse ? (view.n - 1) * view.inner : 0), stride);
    }
  }
}

template <typename T, typename N>
void store(N value, T* to) {
  *to = static_cast<T>(static_cast<compute_t<T>>(value));
}

}  // namespace

/// The gradient of x[k] is the product of all elements before k, times s[k] = g[k] + x[k + 1] s[k +
/// 1]. If exclusive, s[k] = g[k + 1] + x[k + 1] s[k + 1]. Complex numbers are conjugated before
/// they are multiplied.
template <typename T, typename Context>
void CumprodGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad, int dim,
                       bool exclusive, bool reverse, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const AxisView view(x.dims(), dim);
  const T* from = x.data<T>();
  const T* grads = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  using N = typename ProdScan<compute_t<T>>::State;
  ScanLine<N> xs(view.n);
  ScanLine<N> gs(view.n);
  std::vector<N> before(static_cast<size_t>(view.n));
  for_each_scan_line(view, reverse, [&](int64_t first, int64_t stride) {
    const N* line = xs.read(from + first, stride);
    const N* g = gs.read(grads + first, stride);
    N product = 1;
    for (int64_t k = 0; k < view.n; ++k) {
      before[k] = product;
      product *= conjugate(line[k]);
    }
    N rest = 0;  // x[k + 1] s[k + 1]; if exclusive, plus g[k + 1]
    for (int64_t k = view.n - 1; k >= 0; --k) {
      const N sum = exclusive ? rest : g[k] + rest;
      store(before[k] * sum, to + first + k * stride);
      rest = conjugate(line[k]) * sum;
      if (exclusive) rest += g[k];
    }
  });
}

/// With r[k] = g[k] + exp(out[k] - out[k + 1]) r[k + 1], the gradient of x[k] is exp(x[k] - out[k])
/// r[k]. If exclusive, it is exp(x[k] - out[k + 1]) r[k + 1].
template <typename T, typename Context>
void LogcumsumexpGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                            const DenseTensor& out_grad, int axis, bool flatten, bool exclusive,
                            bool reverse, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const AxisView view = flatten ? AxisView::flat(x.numel()) : AxisView(x.dims(), axis);
  ScanLine<> xs(view.n);
  ScanLine<> outs(view.n);
  ScanLine<> gs(view.n);
  T* to = x_grad->mutable_data<T>();
  for_each_scan_line(view, reverse, [&](int64_t first, int64_t stride) {
    const double* line = xs.read(x.data<T>() + first, stride);
    const double* joined = outs.read(out.data<T>() + first, stride);
    const double* g = gs.read(out_grad.data<T>() + first, stride);
    double rest = 0;
    double next = 0;  // out[k + 1]
    for (int64_t k = view.n - 1; k >= 0; --k) {
      const bool is_last = k + 1 == view.n;
      const double sum = is_last ? g[k] : g[k] + exp_difference(joined[k], next) * rest;
      const double after = is_last ? 0 : exp_difference(line[k], next) * rest;
      store(exclusive ? after : exp_difference(line[k], joined[k]) * sum, to + first + k * stride);
      rest = sum;
      next = joined[k];
    }
  });
}

PHI_REGISTER_KERNEL(cumprod_grad, CPU, CumprodGradKernel, Inexact);
PHI_REGISTER_KERNEL(logcumsumexp_grad, CPU, LogcumsumexpGradKernel, Floats);

}  // namespace phi
