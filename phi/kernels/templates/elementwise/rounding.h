// Kernels of one input with little arithmetic: rounding, clipping, tests.
#pragma once

#include <algorithm>
#include <limits>

#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/templates/converted.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {
namespace {

using RealTypes = join_t<TypeList<bool>, RealNumbers>;

/// A bound as a T. An integer T clamps it to its range.
template <typename T>
T bound_of(const Scalar& value) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t whole =
        is_floating(value.dtype()) ? truncated<int64_t>(value.to<double>()) : value.to<int64_t>();
    return static_cast<T>(
        std::clamp<int64_t>(whole, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    return value.to<T>();
  }
}

template <typename T, typename Context>
void round_integers(const Context& ctx, const DenseTensor& x, int decimals, DenseTensor* out) {
  int64_t unit = 1;
  for (int d = decimals; d < 0; ++d) {
    if (unit > std::numeric_limits<T>::max() / 10) {  // 0 is the only multiple in T's range
      fill(ctx, out->mutable_data<T>(), out->numel(), T(0));
      return;
    }
    unit *= 10;
  }
  if (unit == 1) return detail::map_unary<T, T>(ctx, x, out, RintFunctor<T>());
  detail::map_unary<T, T>(ctx, x, out, RoundToMultipleFunctor<T>{static_cast<T>(unit)});
}

}  // namespace

/// Rounds to `decimals` digits after the point, ties to the even digit.
template <typename T, typename Context>
void RoundKernel(const Context& ctx, const DenseTensor& x, int decimals, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    round_integers<T>(ctx, x, decimals, out);
  } else {
    using C = compute_t<T>;
    if (decimals == 0) return detail::map_unary<C, T>(ctx, x, out, RintFunctor<C>());
    const auto power = static_cast<C>(std::pow(10.0, std::abs(static_cast<double>(decimals))));
    detail::map_unary<C, T>(ctx, x, out, RoundDecimalsFunctor<C>{decimals, power});
  }
}

/// The result of integers is float32.
template <typename T, typename Context>
void LogitKernel(const Context& ctx, const DenseTensor& x, float eps, DenseTensor* out) {
  using C = compute_t<floating_t<T>>;
  const C least = eps;
  if (LogitInsideFunctor<C>::takes(least))
    return detail::map_unary<C, T>(ctx, x, out, LogitInsideFunctor<C>{least});
  detail::map_unary<C, T>(ctx, x, out, LogitFunctor<C>{least});
}

/// x clamped to [min, max], which are converted to x's dtype.
template <typename T, typename Context>
void ClipKernel(const Context& ctx, const DenseTensor& x, const Scalar& min, const Scalar& max,
                DenseTensor* out) {
  using C = compute_t<T>;
  detail::map_unary<C, T>(ctx, x, out, ClipFunctor<C>{bound_of<C>(min), bound_of<C>(max)});
}

/// Whether x is 0. bool is processed as bytes, because g++ 12 does not vectorise loops over bool.
template <typename T, typename Context>
void LogicalNotKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  auto* to = static_cast<uint8_t*>(out->mutable_raw_data());
  unary_loop(ctx, static_cast<const Byte*>(x.raw_data()), to, x.numel(),
             LogicalNotFunctor<compute_t<Byte>>());
}

PHI_UNARY_KERNEL(abs, AbsFunctor, RealNumbers);
PHI_UNARY_KERNEL(ceil, CeilFunctor, RealNumbers);
PHI_UNARY_KERNEL(floor, FloorFunctor, RealNumbers);
PHI_UNARY_KERNEL(trunc, TruncFunctor, RealNumbers);
PHI_UNARY_KERNEL(sign, SignFunctor, RealNumbers);
PHI_UNARY_KERNEL(angle, AngleFunctor, Floats);
PHI_REGISTER_KERNEL(logit, PHI_DEVICE, LogitKernel, RealNumbers);
PHI_UNARY_KERNEL(increment, IncrementFunctor, RealNumbers, float);
PHI_UNARY_KERNEL(bitwise_not, BitwiseNotFunctor, AllIntegers);
PHI_UNARY_KERNEL(isfinite, IsFiniteFunctor, RealNumbers);
PHI_UNARY_KERNEL(isinf, IsInfFunctor, RealNumbers);
PHI_UNARY_KERNEL(isnan, IsNanFunctor, RealNumbers);
PHI_REGISTER_KERNEL(bitwise_not, PHI_DEVICE, LogicalNotKernel, TypeList<bool>);
PHI_REGISTER_KERNEL(logical_not, PHI_DEVICE, LogicalNotKernel, RealTypes);
PHI_REGISTER_KERNEL(round, PHI_DEVICE, RoundKernel, RealNumbers);
PHI_REGISTER_KERNEL(clip, PHI_DEVICE, ClipKernel, RealNumbers);

}  // namespace phi
