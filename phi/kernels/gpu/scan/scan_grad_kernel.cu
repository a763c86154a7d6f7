// Gradients of cumprod and logcumsumexp on GPUs. Both are recurrences without divisions, as on the
// CPU, so an element that is 0, or a sum of exponentials that overflows, costs no accuracy. One
// thread processes each line, because merging parts would overflow for products of large numbers.
#include <cmath>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/real_type.h"

namespace phi {
namespace {

using gpu::element;
using gpu::number;

/// Offset of element k of a line, in the order of the scan.
struct ScanPlaces {
  gpu::AxisLines lines;
  bool reverse;
  __device__ int64_t at(int64_t line, int64_t k) const {
    return lines.start(line) + lines.at(reverse ? lines.n - 1 - k : k);
  }
};

/// Type in which products of elements of T are computed.
template <typename T>
using prod_state_t = typename ProdScan<compute_t<T>>::State;

/// An element, or its conjugate if it is complex.
template <typename T>
__device__ prod_state_t<T> factor(T x) {
  return conjugate(static_cast<prod_state_t<T>>(static_cast<compute_t<T>>(x)));
}

/// `before` is scratch for the product of the elements before each one.
template <typename T>
__global__ void cumprod_grad_lines(const T* x, const T* out_grad, ScanPlaces places, bool exclusive,
                                   prod_state_t<T>* before, T* x_grad) {
  using N = prod_state_t<T>;
  const int64_t n = places.lines.n;
  for (int64_t line = gpu::first_item(); line < places.lines.count; line += gpu::item_stride()) {
    N product = 1;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = places.at(line, k);
      before[at] = product;
      product *= factor(x[at]);
    }
    N rest = 0;  // x[k + 1] s[k + 1]; if exclusive, plus g[k + 1]
    for (int64_t k = n - 1; k >= 0; --k) {
      const int64_t at = places.at(line, k);
      const N g = conjugate(factor(out_grad[at]));
      const N sum = exclusive ? rest : g + rest;
      x_grad[at] = static_cast<T>(static_cast<compute_t<T>>(before[at] * sum));
      rest = factor(x[at]) * sum;
      if (exclusive) rest += g;
    }
  }
}

template <typename T>
__global__ void logcumsumexp_grad_lines(const T* x, const T* out, const T* out_grad,
                                        ScanPlaces places, bool exclusive, T* x_grad) {
  const int64_t n = places.lines.n;
  for (int64_t line = gpu::first_item(); line < places.lines.count; line += gpu::item_stride()) {
    double rest = 0;
    double next = 0;  // out[k + 1]
    for (int64_t k = n - 1; k >= 0; --k) {
      const int64_t at = places.at(line, k);
      const bool is_last = k + 1 == n;
      const double g = number(out_grad[at]);
      const double joined = number(out[at]);
      const double value = number(x[at]);
      const double sum = is_last ? g : g + exp_difference(joined, next) * rest;
      const double after = is_last ? 0 : exp_difference(value, next) * rest;
      x_grad[at] = element<T>(exclusive ? after : exp_difference(value, joined) * sum);
      rest = sum;
      next = joined;
    }
  }
}

}  // namespace

/// The gradient of x[k] is the product of all elements before k times s[k], where s[k] = g[k] + x[k
/// + 1] s[k + 1]; for exclusive scans s[k] = g[k + 1] + x[k + 1] s[k + 1]. Complex factors are
/// conjugated.
template <typename T, typename Context>
void CumprodGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                       int dim, bool exclusive, bool reverse, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const ScanPlaces places{gpu::AxisLines(x.dims(), dim), reverse};
  using N = prod_state_t<T>;
  DenseTensor before = DenseTensor::empty({x.dims(), dtype_of<N>()}, ctx.place());
  gpu::launch(ctx, cumprod_grad_lines<T>, gpu::blocks_for(ctx, places.lines.count), gpu::kBlock,
              x.data<T>(), out_grad.data<T>(), places, exclusive, before.mutable_data<N>(),
              x_grad->mutable_data<T>());
}

/// With r[k] = g[k] + exp(out[k] - out[k + 1]) r[k + 1] the gradient of x[k] is exp(x[k] - out[k])
/// r[k]; for exclusive scans it is exp(x[k] - out[k + 1]) r[k + 1].
template <typename T, typename Context>
void LogcumsumexpGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                            const DenseTensor& out_grad, int axis, bool flatten, bool exclusive,
                            bool reverse, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const auto lines = flatten ? gpu::AxisLines::rows(1, x.numel()) : gpu::AxisLines(x.dims(), axis);
  gpu::launch(ctx, logcumsumexp_grad_lines<T>, gpu::blocks_for(ctx, lines.count), gpu::kBlock,
              x.data<T>(), out.data<T>(), out_grad.data<T>(), ScanPlaces{lines, reverse}, exclusive,
              x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(cumprod_grad, GPU, CumprodGradKernel, Inexact);
PHI_REGISTER_KERNEL(logcumsumexp_grad, GPU, LogcumsumexpGradKernel, Floats);

}  // namespace phi
