// Gradients of norms and of log-sum-exp on the CPU: element by element, beside what each row was
// reduced to.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/elementwise/broadcast.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/norm_grad.h"

namespace phi {
namespace {

/// x_grad = f(x, out, out_grad), where the last two have one element for all of x's over `axes`.
template <typename T, typename F>
void reduced_grad(const DenseTensor& x, const DenseTensor& out, const DenseTensor& out_grad,
                  AxisSet axes, DenseTensor* x_grad, F f) {
  using C = compute_t<T>;
  if (x.numel() == 0) return;
  Dims reduced = x.dims();
  for (int d = 0; d < reduced.ndim(); ++d) {
    if (axes.has(d)) reduced[d] = 1;
  }
  const T* xs = x.data<T>();
  const T* outs = out.data<T>();
  const T* grads = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  const Broadcast<1> rows(x.dims(), {&reduced});
  const int64_t step = rows.inner_stride(0);
  run_widest<C>([=, &rows] {
    rows.for_each_row([&](int64_t at, const std::array<int64_t, 1>& from, int64_t count) {
      const T* norms = outs + from[0];
      const T* gs = grads + from[0];
      const auto one = [&](int64_t i, int64_t k) {
        to[at + i] = static_cast<T>(
            f(static_cast<C>(xs[at + i]), static_cast<C>(norms[k]), static_cast<C>(gs[k])));
      };
      if (step == 0) {
        for (int64_t i = 0; i < count; ++i) one(i, 0);
      } else {
        for (int64_t i = 0; i < count; ++i) one(i, i);
      }
    });
  });
}

}  // namespace

template <typename T, typename Context>
void PNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                     const DenseTensor& out_grad, float porder, int axis, bool asvector,
                     DenseTensor* x_grad) {
  using C = compute_t<T>;
  const AxisSet axes = normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims());
  const auto make = [&](auto f) { reduced_grad<T>(x, out, out_grad, axes, x_grad, f); };
  if (porder == 2) return make(EuclideanNormGrad<C>());
  if (porder == 1) return make(MagnitudesGrad<C>());
  if (porder == 0) return make(CountGrad<C>());
  if (std::isinf(porder)) return make(ExtremeMagnitudeGrad<C>());
  make(PowerNormGrad<C>{static_cast<C>(porder)});
}

template <typename T, typename Context>
void FrobeniusNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                             const DenseTensor& out_grad, const IntArray& axis, bool reduce_all,
                             DenseTensor* x_grad) {
  reduced_grad<T>(x, out, out_grad, normalise_axes(reduce_all ? IntArray() : axis, x.dims()),
                  x_grad, EuclideanNormGrad<compute_t<T>>());
}

template <typename T, typename Context>
void LogsumexpGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                         const DenseTensor& out_grad, const std::vector<int64_t>& axis,
                         bool reduce_all, DenseTensor* x_grad) {
  reduced_grad<T>(x, out, out_grad,
                  normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()), x_grad,
                  LogSumExpGrad<compute_t<T>>());
}

PHI_REGISTER_KERNEL(p_norm_grad, CPU, PNormGradKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm_grad, CPU, FrobeniusNormGradKernel, Floats);
PHI_REGISTER_KERNEL(logsumexp_grad, CPU, LogsumexpGradKernel, Floats);

}  // namespace phi
