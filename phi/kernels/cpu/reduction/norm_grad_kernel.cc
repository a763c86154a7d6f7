// Gradients of norms and of logsumexp on the CPU: elementwise loops over an array and the
// reductions of its rows.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/reduction/loop_with_reduced.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/norm_grad.h"

namespace phi {
namespace {

/// Sets x_grad = f(x, out, out_grad), where out and out_grad have one element for all elements of x
/// over `axes`.
template <typename T, typename F>
void reduced_grad(const DenseTensor& x, const DenseTensor& out, const DenseTensor& out_grad,
                  AxisSet axes, DenseTensor* x_grad, F f) {
  using C = compute_t<T>;
  const ComputeArray<C> outs(&out);
  const ComputeArray<C> grads(&out_grad);
  loop_with_reduced<T>(x.dims(), axes, std::array{x.data<T>()},
                       std::array{outs.data(), grads.data()}, x_grad->mutable_data<T>(), f);
}

}  // namespace

template <typename T, typename Context>
void PNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                     const DenseTensor& out_grad, float porder, int axis, float epsilon,
                     bool asvector, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const auto eps = static_cast<C>(epsilon);
  const AxisSet axes = normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims());
  const auto make = [&](auto f) { reduced_grad<T>(x, out, out_grad, axes, x_grad, f); };
  if (porder == 2) return make(EuclideanNormGrad<C>{eps});
  if (porder == 1) return make(MagnitudesGrad<C>{C(1) / (C(1) + eps)});
  if (porder == 0) return make(CountGrad<C>());
  if (std::isinf(porder)) return make(ExtremeMagnitudeGrad<C>());
  make(PowerNormGrad<C>{static_cast<C>(porder), eps});
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
