// Tests whether tensors are close or equal, on GPUs.
#include "phi/generated/kernels/closeness.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/elementwise/closeness.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Whether f holds for all pairs; true for no pairs.
template <typename T, typename F>
void all_pairs(const GpuContext& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out,
               const F& f) {
  const int64_t n = x.numel();
  if (n == 0) return fill(ctx, out->mutable_data<bool>(), 1, true);
  DenseTensor holds = DenseTensor::empty({{n}, DataType::BOOL}, ctx.place());
  auto* each = holds.mutable_data<bool>();
  binary_loop(ctx, x.data<T>(), y.data<T>(), each, n, f);
  reduce_all<AllReducer<bool>>(ctx, static_cast<const bool*>(each), n, out->mutable_data<bool>());
}

}  // namespace

template <typename T, typename Context>
void IsCloseKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                   const Scalar& rtol, const Scalar& atol, bool equal_nan, DenseTensor* out) {
  binary_loop(ctx, x.data<T>(), y.data<T>(), out->mutable_data<bool>(), x.numel(),
              closeness(rtol, atol, equal_nan));
}

/// The result for the local elements. Results of ranks are combined as Partial(all).
template <typename T, typename Context>
void AllCloseKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                    const Scalar& rtol, const Scalar& atol, bool equal_nan, DenseTensor* out) {
  all_pairs<T>(ctx, x, y, out, closeness(rtol, atol, equal_nan));
}

template <typename T, typename Context>
void EqualAllKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                    DenseTensor* out) {
  if (x.dims() != y.dims()) return fill(ctx, out->mutable_data<bool>(), 1, false);
  all_pairs<T>(ctx, x, y, out, EqualFunctor<compute_t<T>>());
}

PHI_REGISTER_KERNEL(isclose, GPU, IsCloseKernel, EveryType);
PHI_REGISTER_KERNEL(allclose, GPU, AllCloseKernel, EveryType);
PHI_REGISTER_KERNEL(equal_all, GPU, EqualAllKernel, EveryType);

}  // namespace phi
