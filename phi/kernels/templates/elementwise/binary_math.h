// Powers, remainders, angles and other functions of two inputs. They are broadcast to out's dims,
// except in kernels that use even_loop. out may be the first input.
#pragma once

#include <cmath>

#include "phi/common/errors.h"
#include "phi/core/device/device_assertion.h"
#include "phi/generated/kernels/binary.h"
#include "phi/kernels/functors/elementwise/binary_math.h"
#include "phi/kernels/functors/incomplete_gamma.h"

namespace phi {
namespace {

template <typename T, typename Context, typename F>
void binary(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out, F f) {
  binary_loop(ctx, x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<T>(),
              out->dims(), f);
}

template <typename T>
struct IsZeroFunctor {
  PHI_HD bool operator()(T x) const { return x == T(0); }
};

/// A device continues after it reports a divisor of 0, so the quotient by 0 is 0 there.
template <typename T, template <typename> typename Functor>
struct IntegerQuotient {
  PHI_HD T operator()(T x, T y) const { return y == T(0) ? T(0) : Functor<T>()(x, y); }
};
/// Floats accept any divisor.
template <typename T, template <typename> typename Functor>
using IntegerOrFloatQuotient =
    std::conditional_t<std::is_integral_v<T>, IntegerQuotient<T, Functor>, Functor<T>>;

[[noreturn]] inline void throw_zero_divisor(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "y {} has a 0, and integers cannot be divided by it; cast x and y to a floating type for "
      "infinities and NaN.",
      found.meta.to_string());
}

template <typename T, typename Context>
void check_divisors(const Context& ctx, const DenseTensor& y, const DenseTensor& out) {
  if constexpr (std::is_integral_v<T>) {
    if (out.numel() == 0) return;
    check_elements<T>(ctx, y, IsZeroFunctor<T>(), {.raise = throw_zero_divisor});
  }
}

template <typename T>
struct AngleOfIntegersFunctor {
  PHI_HD double operator()(T x, T y) const {
    return std::atan2(static_cast<double>(x), static_cast<double>(y));
  }
};

}  // namespace

#define PHI_DEFINE_BINARY_KERNEL_(Name)                                             \
  template <typename T, typename Context>                                           \
  void Name##Kernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                             \
    binary<T>(ctx, x, y, out, Name##Functor<compute_t<T>>());                       \
  }
PHI_DEFINE_BINARY_KERNEL_(ElementwisePow)
PHI_DEFINE_BINARY_KERNEL_(CopySign)
PHI_DEFINE_BINARY_KERNEL_(Heaviside)
PHI_DEFINE_BINARY_KERNEL_(NextAfter)
#undef PHI_DEFINE_BINARY_KERNEL_

/// Errors: InvalidArgument for an integer 0 in y.
template <typename T, typename Context>
void RemainderKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     DenseTensor* out) {
  check_divisors<T>(ctx, y, *out);
  binary<T>(ctx, x, y, out, IntegerOrFloatQuotient<compute_t<T>, RemainderFunctor>());
}

/// Errors: InvalidArgument for an integer 0 in y.
template <typename T, typename Context>
void FloorDivideKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                       DenseTensor* out) {
  check_divisors<T>(ctx, y, *out);
  binary<T>(ctx, x, y, out, IntegerOrFloatQuotient<compute_t<T>, FloorDivideFunctor>());
}

template <typename T, typename Context>
void GammaInccKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     DenseTensor* out) {
  even_loop<T>(ctx, {&x, &y}, out, GammaInccFunctor<compute_t<T>>());
}

/// The result of integers is computed in double.
template <typename T, typename Context>
void Atan2Kernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    even_loop<T>(ctx, std::array{&x, &y}, out->mutable_data<double>(), out->dims(),
                 AngleOfIntegersFunctor<T>());
  } else {
    even_loop<T>(ctx, {&x, &y}, out, Atan2Functor<compute_t<T>>());
  }
}

using BinaryMathTypes = TypeList<float, double>;

PHI_REGISTER_KERNEL(elementwise_pow, PHI_DEVICE, ElementwisePowKernel, RealNumbers);
PHI_REGISTER_KERNEL(remainder, PHI_DEVICE, RemainderKernel, RealNumbers);
PHI_REGISTER_KERNEL(floor_divide, PHI_DEVICE, FloorDivideKernel, RealNumbers);
PHI_REGISTER_KERNEL(atan2, PHI_DEVICE, Atan2Kernel, SignedNumbers);
PHI_REGISTER_KERNEL(copysign, PHI_DEVICE, CopySignKernel, RealNumbers);
PHI_REGISTER_KERNEL(heaviside, PHI_DEVICE, HeavisideKernel, RealNumbers);
PHI_REGISTER_KERNEL(nextafter, PHI_DEVICE, NextAfterKernel, BinaryMathTypes);
PHI_REGISTER_KERNEL(gammaincc, PHI_DEVICE, GammaInccKernel, Floats);

}  // namespace phi
