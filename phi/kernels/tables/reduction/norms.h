// Norms over some tensor dims.
#pragma once

#include <cmath>

#include "phi/generated/kernels/norms.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

struct SquareRoot {
  PHI_HD double operator()(double sum) const { return std::sqrt(sum); }
};

struct RootOfPowers {
  double p;
  PHI_HD double operator()(double sum) const { return std::pow(sum, 1.0 / p); }
};

template <typename C>
struct PowerOfMagnitude {
  C p;
  PHI_HD C operator()(C value) const { return std::pow(std::fabs(value), p); }
};

template <typename R, typename T, typename Context>
void norm_by(const Context& ctx, const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  reduce<R>(ctx, x.data<T>(), x.dims(), axes, out->mutable_data<T>(), ConvertFunctor<T>());
}

template <typename T, typename Context>
void euclidean_norm(const Context& ctx, const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  reduce<SumOfSquaresReducer<T>>(ctx, x.data<T>(), x.dims(), axes, out->mutable_data<T>(),
                                 SquareRoot());
}

/// The p-th root of the sum of p-th powers.
template <typename T, typename Context>
void power_norm(const Context& ctx, const DenseTensor& x, AxisSet axes, double p,
                DenseTensor* out) {
  using C = compute_t<T>;
  DenseTensor powers = DenseTensor::empty({x.dims(), dtype_of<C>()}, ctx.place());
  convert(ctx, x.data<T>(), powers.mutable_data<C>(), x.numel());
  unary_loop(ctx, powers.data<C>(), powers.mutable_data<C>(), x.numel(),
             PowerOfMagnitude<C>{static_cast<C>(p)});
  reduce<SumReducer<C>>(ctx, powers.data<C>(), x.dims(), axes, out->mutable_data<T>(),
                        RootOfPowers{p});
}

}  // namespace

/// porder inf and -inf: the largest and smallest magnitude; 0: how many elements are not 0.
template <typename T, typename Context>
void PNormKernel(const Context& ctx, const DenseTensor& x, float porder, int axis, bool asvector,
                 DenseTensor* out) {
  const AxisSet axes = normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims());
  if (porder == 2) return euclidean_norm<T>(ctx, x, axes, out);
  if (porder == 1) return norm_by<SumOfMagnitudesReducer<T>, T>(ctx, x, axes, out);
  if (porder == 0) return norm_by<CountReducer<T>, T>(ctx, x, axes, out);
  if (std::isinf(porder)) {
    if (porder > 0) return norm_by<LargestMagnitudeReducer<T>, T>(ctx, x, axes, out);
    return norm_by<SmallestMagnitudeReducer<T>, T>(ctx, x, axes, out);
  }
  power_norm<T>(ctx, x, axes, porder, out);
}

template <typename T, typename Context>
void FrobeniusNormKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                         bool reduce_all, DenseTensor* out) {
  euclidean_norm<T>(ctx, x, normalise_axes(reduce_all ? IntArray() : axis, x.dims()), out);
}

PHI_REGISTER_KERNEL(p_norm, PHI_DEVICE, PNormKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm, PHI_DEVICE, FrobeniusNormKernel, Floats);

}  // namespace phi
