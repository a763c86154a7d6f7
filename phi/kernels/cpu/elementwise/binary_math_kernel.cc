// Powers, remainders, angles and other functions of two inputs on the CPU. Inputs broadcast to
// out's dims; out may be the first input.
#include <algorithm>
#include <span>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/binary.h"
#include "phi/kernels/cpu/elementwise/elementwise_loop.h"
#include "phi/kernels/functors/binary_math.h"
#include "phi/kernels/functors/incomplete_gamma.h"

namespace phi {
namespace {

template <typename T, typename F>
void binary(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, F f) {
  binary_loop(x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<T>(), out->dims(), f);
}

template <typename T>
void check_divisors(const DenseTensor& y, const DenseTensor& out) {
  if constexpr (std::is_integral_v<T>) {
    const auto divisors = std::span(y.data<T>(), static_cast<size_t>(y.numel()));
    PHI_CHECK(out.numel() == 0 || std::ranges::find(divisors, T(0)) == divisors.end(),
              errors::InvalidArgument("y {} has a 0, which no integer can be divided by; cast x "
                                      "and y to a floating type for infinities and NaN.",
                                      y.meta().to_string()));
  }
}

}  // namespace

#define PHI_DEFINE_BINARY_KERNEL_(Name)                                         \
  template <typename T, typename Context>                                       \
  void Name##Kernel(const Context&, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                         \
    binary<T>(x, y, out, Name##Functor<compute_t<T>>());                        \
  }
PHI_DEFINE_BINARY_KERNEL_(ElementwisePow)
PHI_DEFINE_BINARY_KERNEL_(CopySign)
PHI_DEFINE_BINARY_KERNEL_(Heaviside)
PHI_DEFINE_BINARY_KERNEL_(NextAfter)
PHI_DEFINE_BINARY_KERNEL_(GammaIncc)
#undef PHI_DEFINE_BINARY_KERNEL_

/// Errors: InvalidArgument for an integer 0 in y.
template <typename T, typename Context>
void RemainderKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  check_divisors<T>(y, *out);
  binary<T>(x, y, out, RemainderFunctor<compute_t<T>>());
}

/// Errors: InvalidArgument for an integer 0 in y.
template <typename T, typename Context>
void FloorDivideKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                       DenseTensor* out) {
  check_divisors<T>(y, *out);
  binary<T>(x, y, out, FloorDivideFunctor<compute_t<T>>());
}

/// Of integers in double.
template <typename T, typename Context>
void Atan2Kernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    binary_loop(x.data<T>(), y.data<T>(), out->mutable_data<double>(), out->numel(), [](T a, T b) {
      return std::atan2(static_cast<double>(a), static_cast<double>(b));
    });
  } else {
    binary<T>(x, y, out, Atan2Functor<compute_t<T>>());
  }
}

using WideFloats = TypeList<float, double>;
using Reals = join_t<AllIntegers, Floats>;

PHI_REGISTER_KERNEL(elementwise_pow, CPU, ElementwisePowKernel, Reals);
PHI_REGISTER_KERNEL(remainder, CPU, RemainderKernel, Reals);
PHI_REGISTER_KERNEL(floor_divide, CPU, FloorDivideKernel, Reals);
PHI_REGISTER_KERNEL(atan2, CPU, Atan2Kernel, SignedNumbers);
PHI_REGISTER_KERNEL(copysign, CPU, CopySignKernel, Reals);
PHI_REGISTER_KERNEL(heaviside, CPU, HeavisideKernel, Reals);
PHI_REGISTER_KERNEL(nextafter, CPU, NextAfterKernel, WideFloats);
PHI_REGISTER_KERNEL(gammaincc, CPU, GammaInccKernel, Floats);

}  // namespace phi
