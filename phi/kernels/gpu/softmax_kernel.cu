// softmax, log_softmax and their gradients on GPUs, along any tensor dim.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/gpu/softmax_terms.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi {
namespace {

using gpu::AxisLines;

template <typename T>
struct SoftmaxRow {
  const T* x;
  T* out;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(x);
    gpu::write_softmax(row, own, gpu::softmax_sum<T>(row, own), out);
  }
};

template <typename T>
struct SoftmaxGradRow {
  using C = compute_t<T>;
  const T* out;
  const T* out_grad;
  T* x_grad;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto y = row.read(out);
    const auto g = row.read(out_grad);
    const C sum = row.sum([](C y, C g) { return y * g; }, y, g);
    row.write(
        x_grad, [=](C y, C g) { return y * (g - sum); }, y, g);
  }
};

template <typename T>
struct LogSoftmaxRow {
  using C = compute_t<T>;
  const T* x;
  T* out;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(x);
    const gpu::SoftmaxStatistics<C> terms = gpu::softmax_sum<T>(row, own);
    // Subtract the largest first: next to large numbers the sum's logarithm would be lost.
    const C rest = std::log(terms.sum);
    row.write(
        out, [=](C v) { return (v - terms.most) - rest; }, own);
  }
};

template <typename T>
struct LogSoftmaxGradRow {
  using C = compute_t<T>;
  const T* out;
  const T* out_grad;
  T* x_grad;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto y = row.read(out);
    const auto g = row.read(out_grad);
    const C sum = row.sum([](C g) { return g; }, g);
    row.write(
        x_grad, [=](C y, C g) { return g - std::exp(y) * sum; }, y, g);
  }
};

template <template <typename> typename Op, typename T>
void make_rows(const GpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Op<T> op{x.data<T>(), out->mutable_data<T>()};
  for_each_row<T>(ctx, AxisLines(x.dims(), axis), op, op.x, op.out);
}

template <template <typename> typename Op, typename T>
void make_gradient_rows(const GpuContext& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                        int axis, DenseTensor* x_grad) {
  if (out.numel() == 0) return;
  const Op<T> op{out.data<T>(), out_grad.data<T>(), x_grad->mutable_data<T>()};
  for_each_row<T>(ctx, AxisLines(out.dims(), axis), op, op.out, op.out_grad, op.x_grad);
}

}  // namespace

/// out = exp(x - max) / sum(exp(x - max)) along `axis`; out may be x.
template <typename T, typename Context>
void SoftmaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  make_rows<SoftmaxRow, T>(ctx, x, axis, out);
}

/// x_grad = out * (out_grad - sum(out * out_grad)) along `axis`. x_grad may be out_grad.
template <typename T, typename Context>
void SoftmaxGradKernel(const Context& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                       int axis, DenseTensor* x_grad) {
  make_gradient_rows<SoftmaxGradRow, T>(ctx, out, out_grad, axis, x_grad);
}

/// x - log(sum(exp(x))) along `axis`.
template <typename T, typename Context>
void LogSoftmaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out) {
  make_rows<LogSoftmaxRow, T>(ctx, x, axis, out);
}

/// x_grad = out_grad - exp(out) * sum(out_grad) along `axis`.
template <typename T, typename Context>
void LogSoftmaxGradKernel(const Context& ctx, const DenseTensor& out, const DenseTensor& out_grad,
                          int axis, DenseTensor* x_grad) {
  make_gradient_rows<LogSoftmaxGradRow, T>(ctx, out, out_grad, axis, x_grad);
}

PHI_REGISTER_KERNEL(softmax, GPU, SoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(softmax_grad, GPU, SoftmaxGradKernel, Floats);
PHI_REGISTER_KERNEL(log_softmax, GPU, LogSoftmaxKernel, Floats);
PHI_REGISTER_KERNEL(log_softmax_grad, GPU, LogSoftmaxGradKernel, Floats);

}  // namespace phi
