// Gradients of norms and of log-sum-exp on GPUs: elementwise kernels over x and the broadcast
// results.
#include <cmath>

#include "phi/generated/kernels/norms.h"
#include "phi/kernels/functors/norm_grad.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// x_grad = f(x, out, out_grad), where out and out_grad are broadcast over `axes`.
template <typename T, typename F>
void reduced_grad(const GpuContext& ctx, const DenseTensor& x, const DenseTensor& out,
                  const DenseTensor& out_grad, AxisSet axes, DenseTensor* x_grad, F f) {
  if (x.numel() == 0) return;
  Dims reduced = x.dims();
  for (int d = 0; d < reduced.ndim(); ++d) {
    if (axes.has(d)) reduced[d] = 1;
  }
  const DenseTensor norms = out.view(reduced);
  const DenseTensor grads = out_grad.view(reduced);
  nary_loop<T>(ctx, {&x, &norms, &grads}, x_grad, f);
}

}  // namespace

template <typename T, typename Context>
void PNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                     const DenseTensor& out_grad, float porder, int axis, float epsilon,
                     bool asvector, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const auto eps = static_cast<C>(epsilon);
  const AxisSet axes = normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims());
  const auto make = [&](auto f) { reduced_grad<T>(ctx, x, out, out_grad, axes, x_grad, f); };
  if (porder == 2) return make(EuclideanNormGrad<C>{eps});
  if (porder == 1) return make(MagnitudesGrad<C>{C(1) / (C(1) + eps)});
  if (porder == 0) return make(CountGrad<C>());
  if (std::isinf(porder)) return make(ExtremeMagnitudeGrad<C>());
  make(PowerNormGrad<C>{static_cast<C>(porder), eps});
}

template <typename T, typename Context>
void FrobeniusNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                             const DenseTensor& out_grad, const IntArray& axis, bool reduce_all,
                             DenseTensor* x_grad) {
  reduced_grad<T>(ctx, x, out, out_grad, normalise_axes(reduce_all ? IntArray() : axis, x.dims()),
                  x_grad, EuclideanNormGrad<compute_t<T>>());
}

template <typename T, typename Context>
void LogsumexpGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                         const DenseTensor& out_grad, const std::vector<int64_t>& axis,
                         bool reduce_all, DenseTensor* x_grad) {
  reduced_grad<T>(ctx, x, out, out_grad,
                  normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()), x_grad,
                  LogSumExpGrad<compute_t<T>>());
}

PHI_REGISTER_KERNEL(p_norm_grad, GPU, PNormGradKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm_grad, GPU, FrobeniusNormGradKernel, Floats);
PHI_REGISTER_KERNEL(logsumexp_grad, GPU, LogsumexpGradKernel, Floats);

}  // namespace phi
