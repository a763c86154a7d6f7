// Norms over tensor dims, written with device primitives.
#pragma once

#include <cmath>

#include "phi/core/dense_tensor.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/norms.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/fast/power.h"
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
  PHI_HD C operator()(C value) const { return fast::pow(std::fabs(value), p); }
};

template <typename R, typename T, typename Context, typename Out>
void norm_by(const Context& ctx, const DenseTensor& x, AxisSet axes, Out* out) {
  reduce<R>(ctx, x.data<T>(), x.dims(), axes, out, ConvertFunctor<Out>());
}

template <typename T, typename Context, typename Out>
void euclidean_norm(const Context& ctx, const DenseTensor& x, AxisSet axes, Out* out) {
  reduce<SumOfSquaresReducer<T>>(ctx, x.data<T>(), x.dims(), axes, out, SquareRoot());
}

/// The p-th root of the sum of p-th powers.
template <typename T, typename Context, typename Out>
void power_norm(const Context& ctx, const DenseTensor& x, AxisSet axes, double p, Out* out) {
  using C = compute_t<T>;
  DenseTensor powers = scratch_array({x.dims(), dtype_of<C>()}, ctx.place());
  convert(ctx, x.data<T>(), powers.mutable_data<C>(), x.numel());
  unary_loop(ctx, powers.data<C>(), powers.mutable_data<C>(), x.numel(),
             PowerOfMagnitude<C>{static_cast<C>(p)});
  reduce<SumReducer<C>>(ctx, powers.data<C>(), x.dims(), axes, out, RootOfPowers{p});
}

/// The p-norm over `axes` of x. p = inf and -inf: the largest and smallest magnitude. p = 0: the
/// number of non-zero elements.
template <typename T, typename Context, typename Out>
void p_norm(const Context& ctx, const DenseTensor& x, AxisSet axes, float p, Out* out) {
  if (p == 2) return euclidean_norm<T>(ctx, x, axes, out);
  if (p == 1) return norm_by<SumOfMagnitudesReducer<T>, T>(ctx, x, axes, out);
  if (p == 0) return norm_by<CountReducer<T>, T>(ctx, x, axes, out);
  if (std::isinf(p)) {
    if (p > 0) return norm_by<LargestMagnitudeReducer<T>, T>(ctx, x, axes, out);
    return norm_by<SmallestMagnitudeReducer<T>, T>(ctx, x, axes, out);
  }
  power_norm<T>(ctx, x, axes, p, out);
}

}  // namespace

template <typename T, typename Context>
void PNormKernel(const Context& ctx, const DenseTensor& x, float porder, int axis, bool asvector,
                 DenseTensor* out) {
  p_norm<T>(ctx, x, normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims()), porder,
            out->mutable_data<T>());
}

template <typename T, typename Context>
void FrobeniusNormKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                         bool reduce_all, DenseTensor* out) {
  euclidean_norm<T>(ctx, x, normalise_axes(reduce_all ? IntArray() : axis, x.dims()),
                    out->mutable_data<T>());
}

PHI_REGISTER_KERNEL(p_norm, PHI_DEVICE, PNormKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm, PHI_DEVICE, FrobeniusNormKernel, Floats);

}  // namespace phi
