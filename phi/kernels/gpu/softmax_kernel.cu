// softmax, log_softmax and their gradients on GPUs, along any tensor dim.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/functors/fast_math.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

using gpu::AxisLines;

/// The elements of one line in the computing type.
template <typename T>
struct LineOf {
  using C = compute_t<T>;
  const T* first;
  AxisLines lines;
  __device__ C operator()(int64_t k) const { return static_cast<C>(first[lines.at(k)]); }
};

template <typename T>
struct SoftmaxLine {
  const T* x;
  T* out;
  AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const int64_t first = lines.start(line);
    const LineOf<T> value{x + first, lines};
    const C most = team.template largest<C>(lines.n, value);
    const auto power = [&](int64_t k) { return fast::exp_or_zero(value(k) - most); };
    const C factor = C(1) / team.template sum<C>(lines.n, power);
    team.each(lines.n,
              [&](int64_t k) { out[first + lines.at(k)] = static_cast<T>(power(k) * factor); });
  }
};

template <typename T>
struct SoftmaxGradLine {
  const T* out;
  const T* out_grad;
  T* x_grad;
  AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const int64_t first = lines.start(line);
    const LineOf<T> y{out + first, lines};
    const LineOf<T> g{out_grad + first, lines};
    const C sum = team.template sum<C>(lines.n, [&](int64_t k) { return y(k) * g(k); });
    team.each(lines.n, [&](int64_t k) {
      x_grad[first + lines.at(k)] = static_cast<T>(y(k) * (g(k) - sum));
    });
  }
};

template <typename T>
struct LogSoftmaxLine {
  const T* x;
  T* out;
  AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const int64_t first = lines.start(line);
    const LineOf<T> value{x + first, lines};
    const C most = team.template largest<C>(lines.n, value);
    const C sum = team.template sum<C>(
        lines.n, [&](int64_t k) { return fast::exp_or_zero(value(k) - most); });
    // Relative to the largest first: the sum's logarithm would be lost beside large numbers.
    const C rest = std::log(sum);
    team.each(lines.n, [&](int64_t k) {
      out[first + lines.at(k)] = static_cast<T>((value(k) - most) - rest);
    });
  }
};

template <typename T>
struct LogSoftmaxGradLine {
  const T* out;
  const T* out_grad;
  T* x_grad;
  AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const int64_t first = lines.start(line);
    const LineOf<T> y{out + first, lines};
    const LineOf<T> g{out_grad + first, lines};
    const C sum = team.template sum<C>(lines.n, g);
    team.each(lines.n, [&](int64_t k) {
      x_grad[first + lines.at(k)] = static_cast<T>(g(k) - fast::exp(y(k)) * sum);
    });
  }
};

template <template <typename> typename Line, typename T>
void make_lines(const GpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  const AxisLines lines(x.dims(), axis);
  if (x.numel() == 0) return;
  for_each_line(ctx, lines, Line<T>{x.data<T>(), out->mutable_data<T>(), lines});
}

template <template <typename> typename Line, typename T>
void make_gradient_lines(const GpuContext& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                         int axis, DenseTensor* x_grad) {
  const AxisLines lines(out.dims(), axis);
  if (out.numel() == 0) return;
  for_each_line(ctx, lines,
                Line<T>{out.data<T>(), out_grad.data<T>(), x_grad->mutable_data<T>(), lines});
}

}  // namespace

/// out = exp(x - max) / sum(exp(x - max)) along `axis`; out may be x.
template <typename T, typename Context>
void SoftmaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  make_lines<SoftmaxLine, T>(ctx, x, axis, out);
}

/// x_grad = out * (out_grad - sum(out * out_grad)) along `axis`. x_grad may be out_grad.
template <typename T, typename Context>
void SoftmaxGradKernel(const Context& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                       int axis, DenseTensor* x_grad) {
  make_gradient_lines<SoftmaxGradLine, T>(ctx, out, out_grad, axis, x_grad);
}

/// x - log(sum(exp(x))) along `axis`.
template <typename T, typename Context>
void LogSoftmaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  make_lines<LogSoftmaxLine, T>(ctx, x, axis, out);
}

/// x_grad = out_grad - exp(out) * sum(out_grad) along `axis`.
template <typename T, typename Context>
void LogSoftmaxGradKernel(const Context& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                          int axis, DenseTensor* x_grad) {
  make_gradient_lines<LogSoftmaxGradLine, T>(ctx, out, out_grad, axis, x_grad);
}

PHI_REGISTER_KERNEL(softmax, GPU, SoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(softmax_grad, GPU, SoftmaxGradKernel, Floats);
PHI_REGISTER_KERNEL(log_softmax, GPU, LogSoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(log_softmax_grad, GPU, LogSoftmaxGradKernel, Floats);

}  // namespace phi
