// Elementwise kernels of two inputs, which are broadcast to out's dims. out may be the first input.
#pragma once

#include "phi/generated/kernels/binary.h"
#include "phi/kernels/functors/elementwise/binary.h"

namespace phi {
namespace {

template <typename T, template <typename> class Functor, typename Context>
void binary(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary_loop(ctx, x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<T>(),
              out->dims(), Functor<compute_t<T>>());
}

template <typename T, template <typename> class Functor, typename Context>
void compare(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary_loop(ctx, x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<bool>(),
              out->dims(), Functor<compute_t<T>>());
}

template <typename T>
struct QuotientFunctor {
  PHI_HD float operator()(T x, T y) const {
    return static_cast<float>(static_cast<double>(x) / static_cast<double>(y));
  }
};

}  // namespace

#define PHI_DEFINE_BINARY_KERNEL_(Name)                                             \
  template <typename T, typename Context>                                           \
  void Name##Kernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                             \
    binary<T, Name##Functor>(ctx, x, y, out);                                       \
  }
PHI_DEFINE_BINARY_KERNEL_(Add)
PHI_DEFINE_BINARY_KERNEL_(Subtract)
PHI_DEFINE_BINARY_KERNEL_(Multiply)
PHI_DEFINE_BINARY_KERNEL_(Maximum)
PHI_DEFINE_BINARY_KERNEL_(Minimum)
PHI_DEFINE_BINARY_KERNEL_(FMax)
PHI_DEFINE_BINARY_KERNEL_(FMin)
#undef PHI_DEFINE_BINARY_KERNEL_

/// The quotient of integers is float32; it is infinite or NaN for a divisor of 0.
template <typename T, typename Context>
void DivideKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                  DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    binary_loop(ctx, x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<float>(),
                out->dims(), QuotientFunctor<T>());
  } else {
    binary<T, DivideFunctor>(ctx, x, y, out);
  }
}

// Comparisons: T is the inputs' dtype, out is bool. With a NaN, all but not_equal are false.
#define PHI_DEFINE_COMPARE_KERNEL_(Name)                                            \
  template <typename T, typename Context>                                           \
  void Name##Kernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                             \
    compare<T, Name##Functor>(ctx, x, y, out);                                      \
  }
PHI_DEFINE_COMPARE_KERNEL_(Equal)
PHI_DEFINE_COMPARE_KERNEL_(NotEqual)
PHI_DEFINE_COMPARE_KERNEL_(GreaterThan)
PHI_DEFINE_COMPARE_KERNEL_(GreaterEqual)
PHI_DEFINE_COMPARE_KERNEL_(LessThan)
PHI_DEFINE_COMPARE_KERNEL_(LessEqual)
#undef PHI_DEFINE_COMPARE_KERNEL_

using ComparableTypes = join_t<TypeList<bool>, RealNumbers>;
using ArithmeticTypes = join_t<RealNumbers, Complexes>;

PHI_REGISTER_KERNEL(add, PHI_DEVICE, AddKernel, EveryType);
PHI_REGISTER_KERNEL(subtract, PHI_DEVICE, SubtractKernel, ArithmeticTypes);
PHI_REGISTER_KERNEL(multiply, PHI_DEVICE, MultiplyKernel, EveryType);
PHI_REGISTER_KERNEL(divide, PHI_DEVICE, DivideKernel, ArithmeticTypes);
PHI_REGISTER_KERNEL(maximum, PHI_DEVICE, MaximumKernel, ComparableTypes);
PHI_REGISTER_KERNEL(minimum, PHI_DEVICE, MinimumKernel, ComparableTypes);
PHI_REGISTER_KERNEL(fmax, PHI_DEVICE, FMaxKernel, ComparableTypes);
PHI_REGISTER_KERNEL(fmin, PHI_DEVICE, FMinKernel, ComparableTypes);
PHI_REGISTER_KERNEL(equal, PHI_DEVICE, EqualKernel, EveryType);
PHI_REGISTER_KERNEL(not_equal, PHI_DEVICE, NotEqualKernel, EveryType);
PHI_REGISTER_KERNEL(greater_than, PHI_DEVICE, GreaterThanKernel, EveryType);
PHI_REGISTER_KERNEL(greater_equal, PHI_DEVICE, GreaterEqualKernel, EveryType);
PHI_REGISTER_KERNEL(less_than, PHI_DEVICE, LessThanKernel, EveryType);
PHI_REGISTER_KERNEL(less_equal, PHI_DEVICE, LessEqualKernel, EveryType);

}  // namespace phi
