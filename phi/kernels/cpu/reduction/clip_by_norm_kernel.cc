// clip_by_norm on the CPU.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/cpu/reduction/reduce_loop.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

template <typename T>
DenseTensor sum_of_squares(const KernelContext& ctx, const DenseTensor& x) {
  DenseTensor sum = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  reduce_loop<SumOfSquaresReducer<T>>(x.data<T>(), x.dims(), AxisSet::all(x.ndim()),
                                      StoreTo(sum.mutable_data<double>()));
  return sum;
}

void combine_over_all(const KernelContext& ctx, int ndim, DenseTensor* sum) {
  for (int d = 0; ctx.view() && d < ndim; ++d) {
    ctx.view()->combine_over(0, d, CombineKind::kSum, sum);
  }
}

}  // namespace

/// out = x, scaled down to norm `max_norm` if its norm is larger. The ranks that hold parts combine
/// their squares. If x has a NaN, all of out is NaN.
template <typename T, typename Context>
void ClipByNormKernel(const Context& ctx, const DenseTensor& x, float max_norm, DenseTensor* out) {
  using C = compute_t<T>;
  DenseTensor sum = sum_of_squares<T>(ctx, x);
  combine_over_all(ctx, x.ndim(), &sum);
  const double norm = std::sqrt(*sum.data<double>());
  const auto factor = static_cast<C>(norm <= max_norm ? 1.0 : max_norm / norm);
  unary_loop(x.data<T>(), out->mutable_data<T>(), x.numel(),
             [factor](C value) { return value * factor; });
}

// A dry run counts the messages of ClipByNormKernel.
template <typename T, typename Context>
void ClipByNormDry(const Context& ctx, const DenseTensor& x, float, DenseTensor*) {
  DenseTensor sum = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  combine_over_all(ctx, x.ndim(), &sum);
}

PHI_REGISTER_KERNEL(clip_by_norm, CPU, ClipByNormKernel, Floats);
PHI_REGISTER_DRY_KERNEL(clip_by_norm, ClipByNormDry, Floats);

}  // namespace phi
