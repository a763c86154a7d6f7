// log_softmax and its gradient on the CPU.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

template <typename C>
void log_softmax_row(const C* row, int64_t n, C* to) {
  const C most = row_max(row, n);
  const C sum = row_sum<C>(n, [=](int64_t i) { return fast::exp_or_zero(row[i] - most); });
  // The maximum is subtracted first: the logarithm of the sum would be lost next to large numbers.
  const C rest = std::log(sum);
  for (int64_t i = 0; i < n; ++i) to[i] = (row[i] - most) - rest;
}

template <typename C>
void log_softmax_grad_row(const C* out, const C* grad, int64_t n, C* to) {
  const C sum = row_sum<C>(n, [=](int64_t i) { return grad[i]; });
  for (int64_t i = 0; i < n; ++i) to[i] = grad[i] - fast::exp(out[i]) * sum;
}

/// Lines along an axis, copied to and from contiguous rows.
template <typename T>
class SoftmaxLines {
 public:
  using C = compute_t<T>;
  explicit SoftmaxLines(const AxisView& view)
      : view_(view), a_(static_cast<size_t>(view.n)), b_(a_), to_(a_) {}

  /// Sets to(line) = f(a(line), b(line), n, row). b may be a.
  template <typename F>
  void for_each(const T* a, const T* b, T* to, F f) {
    for (int64_t o = 0; o < view_.outer; ++o) {
      for (int64_t i = 0; i < view_.inner; ++i) {
        const int64_t first = view_.start(o, i);
        read(a + first, a_.data());
        if (b != a) read(b + first, b_.data());
        f(a_.data(), b_.data(), view_.n, to_.data());
        for (int64_t k = 0; k < view_.n; ++k) to[first + k * view_.inner] = static_cast<T>(to_[k]);
      }
    }
  }

 private:
  void read(const T* from, C* row) const {
    for (int64_t k = 0; k < view_.n; ++k) row[k] = static_cast<C>(from[k * view_.inner]);
  }
  AxisView view_;
  std::vector<C> a_;
  std::vector<C> b_;
  std::vector<C> to_;
};

}  // namespace

/// out = x - log(sum(exp(x))) along `axis`.
template <typename T, typename Context>
void LogSoftmaxKernel(const Context&, const DenseTensor& x, int axis, DenseTensor* out) {
  using C = compute_t<T>;
  if (x.numel() == 0) return;
  const AxisView view(x.dims(), axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  run_best_isa<C>([&] {
    if (view.inner != 1) {
      return SoftmaxLines<T>(view).for_each(
          from, from, to,
          [](const C* row, const C*, int64_t n, C* line) { log_softmax_row(row, n, line); });
    }
    RowReader<T> reader(from, view.n);
    RowWriter<T> writer(to, view.n);
    for (int64_t r = 0; r < view.outer; ++r) {
      log_softmax_row(reader.row(r), view.n, writer.row(r));
      writer.done(r);
    }
  });
}

/// x_grad = out_grad - exp(out) * sum(out_grad) along `axis`.
template <typename T, typename Context>
void LogSoftmaxGradKernel(const Context&, const DenseTensor& out, const DenseTensor& out_grad,
                          int axis, DenseTensor* x_grad) {
  using C = compute_t<T>;
  if (out.numel() == 0) return;
  const AxisView view(out.dims(), axis);
  const T* outs = out.data<T>();
  const T* grads = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  run_best_isa<C>([&] {
    if (view.inner != 1) {
      return SoftmaxLines<T>(view).for_each(outs, grads, to,
                                            [](const C* row, const C* g, int64_t n, C* line) {
                                              log_softmax_grad_row(row, g, n, line);
                                            });
    }
    RowReader<T> reader(outs, view.n);
    RowReader<T> grad_reader(grads, view.n);
    RowWriter<T> writer(to, view.n);
    for (int64_t r = 0; r < view.outer; ++r) {
      log_softmax_grad_row(reader.row(r), grad_reader.row(r), view.n, writer.row(r));
      writer.done(r);
    }
  });
}

PHI_REGISTER_KERNEL(log_softmax, CPU, LogSoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(log_softmax_grad, CPU, LogSoftmaxGradKernel, Floats);

}  // namespace phi
