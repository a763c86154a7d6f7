// clip_by_norm on GPUs. The norm stays on the GPU.
#include <cmath>

#include "phi/generated/kernels/norms.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// The scale factor for a sum of squares.
template <typename C>
struct ClippingFactor {
  double max_norm;
  PHI_HD C operator()(double squares) const {
    const double norm = std::sqrt(squares);
    return static_cast<C>(norm <= max_norm ? 1.0 : max_norm / norm);
  }
};

template <typename C>
struct TimesFactor {
  const C* factor;
  PHI_HD C operator()(C value) const { return value * *factor; }
};

}  // namespace

/// x, scaled to norm `max_norm` if its norm is larger. The sum of squares is combined over the
/// ranks that have shards of x. If x has a NaN, all results are NaN.
template <typename T, typename Context>
void ClipByNormKernel(const Context& ctx, const DenseTensor& x, float max_norm, DenseTensor* out) {
  using C = compute_t<T>;
  DenseTensor sum = DenseTensor::empty({{}, DataType::FLOAT64}, ctx.place());
  DenseTensor factor = DenseTensor::empty({{}, dtype_of<C>()}, ctx.place());
  reduce_all<SumOfSquaresReducer<T>>(ctx, x.data<T>(), x.numel(), sum.mutable_data<double>());
  for (int d = 0; ctx.view() && d < x.ndim(); ++d)
    ctx.view()->combine_over(0, d, CombineKind::kSum, &sum);
  unary_loop(ctx, sum.data<double>(), factor.mutable_data<C>(), 1, ClippingFactor<C>{max_norm});
  unary_loop(ctx, x.data<T>(), out->mutable_data<T>(), x.numel(), TimesFactor<C>{factor.data<C>()});
}

PHI_REGISTER_KERNEL(clip_by_norm, GPU, ClipByNormKernel, Floats);

}  // namespace phi
