// The elementwise kernels of one input that most models use. out may be x.
#pragma once

#include <cmath>

#include "phi/common/errors.h"
#include "phi/generated/kernels/unary.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {
namespace {

template <typename T, typename Context, typename F>
void unary(const Context& ctx, const DenseTensor& x, DenseTensor* out, F f) {
  detail::map_unary<compute_t<T>, T>(ctx, x, out, f);
}

using ScaledTypes = join_t<Complexes, RealNumbers>;

// Wraps around, like the product of `exponent` factors.
template <typename T>
struct IntegerPowFunctor {
  int64_t exponent;
  PHI_HD T operator()(T x) const {
    const MultiplyFunctor<T> multiply;
    T result = 1;
    for (int64_t e = exponent; e > 0; e >>= 1) {
      if (e & 1) result = multiply(result, x);
      x = multiply(x, x);
    }
    return result;
  }
};

}  // namespace

/// x Phi(x), or its tanh approximation if `approximate`.
template <typename T, typename Context>
void GeluKernel(const Context& ctx, const DenseTensor& x, bool approximate, DenseTensor* out) {
  if (approximate) return unary<T>(ctx, x, out, GeluTanhFunctor<compute_t<T>>());
  unary<T>(ctx, x, out, GeluFunctor<compute_t<T>>());
}

/// x^y. Errors: InvalidArgument for an integer x unless y is a non-negative integer.
template <typename T, typename Context>
void PowKernel(const Context& ctx, const DenseTensor& x, const Scalar& y, DenseTensor* out) {
  using C = compute_t<T>;
  const double exponent = y.to<double>();
  if constexpr (std::is_integral_v<T>) {
    PHI_CHECK(exponent >= 0 && exponent == std::floor(exponent) && exponent < 0x1p63,
              errors::InvalidArgument("y is {} for x {}: integers support integer powers of at "
                                      "least 0; cast x to a floating type for others.",
                                      y.to_string(), x.meta().to_string()));
    unary<T>(ctx, x, out, IntegerPowFunctor<T>{static_cast<int64_t>(exponent)});
  } else {
    if (exponent == 0.5) return unary<T>(ctx, x, out, PowHalfFunctor<C>());
    if (exponent == 2.0) return unary<T>(ctx, x, out, SquareFunctor<C>());
    if (exponent == 3.0) return unary<T>(ctx, x, out, CubeFunctor<C>());
    unary<T>(ctx, x, out, PowFunctor<C>{static_cast<C>(exponent)});
  }
}

/// x scale + bias, or (x + bias) scale. scale and bias are converted to x's dtype.
template <typename T, typename Context>
void ScaleKernel(const Context& ctx, const DenseTensor& x, const Scalar& scale, const Scalar& bias,
                 bool bias_after_scale, DenseTensor* out) {
  using C = compute_t<T>;
  if (bias_after_scale) {
    return unary<T>(ctx, x, out, ScaleFunctor<C, true>{scale.to<C>(), bias.to<C>()});
  }
  unary<T>(ctx, x, out, ScaleFunctor<C, false>{scale.to<C>(), bias.to<C>()});
}

PHI_FLOAT_UNARY_KERNEL(exp, ExpFunctor);
PHI_FLOAT_UNARY_KERNEL(log, LogFunctor);
PHI_FLOAT_UNARY_KERNEL(sqrt, SqrtFunctor);
PHI_FLOAT_UNARY_KERNEL(rsqrt, RsqrtFunctor);
PHI_FLOAT_UNARY_KERNEL(tanh, TanhFunctor);
PHI_FLOAT_UNARY_KERNEL(sigmoid, SigmoidFunctor);
PHI_UNARY_KERNEL(silu, SiluFunctor, Floats);
PHI_UNARY_KERNEL(square, SquareFunctor, RealNumbers);
PHI_UNARY_KERNEL(relu, ReluFunctor, Numbers);
PHI_REGISTER_KERNEL(gelu, PHI_DEVICE, GeluKernel, Floats);
PHI_REGISTER_KERNEL(pow, PHI_DEVICE, PowKernel, SignedNumbers);
PHI_REGISTER_KERNEL(scale, PHI_DEVICE, ScaleKernel, ScaledTypes);

}  // namespace phi
