// Elementwise kernels of two inputs on the CPU. Inputs broadcast to out's dims; out may be the
// first input.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/binary.h"
#include "phi/kernels/cpu/elementwise/elementwise_loop.h"
#include "phi/kernels/functors/binary.h"

namespace phi {
namespace {

template <typename T, template <typename> class Functor>
void binary(const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary_loop(x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<T>(), out->dims(),
              Functor<compute_t<T>>());
}

template <typename T, template <typename> class Functor>
void compare(const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary_loop(x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<bool>(), out->dims(),
              Functor<compute_t<T>>());
}

}  // namespace

#define PHI_DEFINE_BINARY_KERNEL_(Name)                                         \
  template <typename T, typename Context>                                       \
  void Name##Kernel(const Context&, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                         \
    binary<T, Name##Functor>(x, y, out);                                        \
  }
PHI_DEFINE_BINARY_KERNEL_(Add)
PHI_DEFINE_BINARY_KERNEL_(Subtract)
PHI_DEFINE_BINARY_KERNEL_(Multiply)
PHI_DEFINE_BINARY_KERNEL_(Maximum)
PHI_DEFINE_BINARY_KERNEL_(Minimum)
PHI_DEFINE_BINARY_KERNEL_(FMax)
PHI_DEFINE_BINARY_KERNEL_(FMin)
#undef PHI_DEFINE_BINARY_KERNEL_

/// Of integers the quotient is a float32, infinite or NaN where one is divided by 0.
template <typename T, typename Context>
void DivideKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    binary_loop(x.data<T>(), x.dims(), y.data<T>(), y.dims(), out->mutable_data<float>(),
                out->dims(), [](T a, T b) {
                  return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
                });
  } else {
    binary<T, DivideFunctor>(x, y, out);
  }
}

// Comparisons: T is the inputs' dtype, out is bool. With NaN on a side all but not_equal are false.
#define PHI_DEFINE_COMPARE_KERNEL_(Name)                                        \
  template <typename T, typename Context>                                       \
  void Name##Kernel(const Context&, const DenseTensor& x, const DenseTensor& y, \
                    DenseTensor* out) {                                         \
    compare<T, Name##Functor>(x, y, out);                                       \
  }
PHI_DEFINE_COMPARE_KERNEL_(Equal)
PHI_DEFINE_COMPARE_KERNEL_(NotEqual)
PHI_DEFINE_COMPARE_KERNEL_(GreaterThan)
PHI_DEFINE_COMPARE_KERNEL_(GreaterEqual)
PHI_DEFINE_COMPARE_KERNEL_(LessThan)
PHI_DEFINE_COMPARE_KERNEL_(LessEqual)
#undef PHI_DEFINE_COMPARE_KERNEL_

using Ordered = join_t<TypeList<bool>, join_t<AllIntegers, Floats>>;
using Calculated = join_t<AllIntegers, join_t<Floats, Complexes>>;

PHI_REGISTER_KERNEL(add, CPU, AddKernel, EveryType);
PHI_REGISTER_KERNEL(subtract, CPU, SubtractKernel, Calculated);
PHI_REGISTER_KERNEL(multiply, CPU, MultiplyKernel, EveryType);
PHI_REGISTER_KERNEL(divide, CPU, DivideKernel, Calculated);
PHI_REGISTER_KERNEL(maximum, CPU, MaximumKernel, Ordered);
PHI_REGISTER_KERNEL(minimum, CPU, MinimumKernel, Ordered);
PHI_REGISTER_KERNEL(fmax, CPU, FMaxKernel, Ordered);
PHI_REGISTER_KERNEL(fmin, CPU, FMinKernel, Ordered);
PHI_REGISTER_KERNEL(equal, CPU, EqualKernel, EveryType);
PHI_REGISTER_KERNEL(not_equal, CPU, NotEqualKernel, EveryType);
PHI_REGISTER_KERNEL(greater_than, CPU, GreaterThanKernel, Ordered);
PHI_REGISTER_KERNEL(greater_equal, CPU, GreaterEqualKernel, Ordered);
PHI_REGISTER_KERNEL(less_than, CPU, LessThanKernel, Ordered);
PHI_REGISTER_KERNEL(less_equal, CPU, LessEqualKernel, Ordered);

}  // namespace phi
