// Elementwise kernels of two inputs on the CPU. Inputs broadcast to out's dims; out may be the
// first input.
#include <algorithm>

#include "phi/common/errors.h"
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

template <typename T, typename Context>
void AddKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary<T, AddFunctor>(x, y, out);
}

template <typename T, typename Context>
void SubtractKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary<T, SubtractFunctor>(x, y, out);
}

template <typename T, typename Context>
void MultiplyKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary<T, MultiplyFunctor>(x, y, out);
}

/// Integers lose their fraction, as in C++. Errors: InvalidArgument if one is divided by 0.
template <typename T, typename Context>
void DivideKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    const auto divisors = std::span(y.data<T>(), static_cast<size_t>(y.numel()));
    PHI_CHECK(
        out->numel() == 0 || std::ranges::find(divisors, T(0)) == divisors.end(),
        errors::InvalidArgument("y {} has a 0, which no integer can be divided by; cast x and "
                                "y to a floating type for infinities.",
                                y.meta().to_string()));
  }
  binary<T, DivideFunctor>(x, y, out);
}

/// NaN wins.
template <typename T, typename Context>
void MaximumKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary<T, MaximumFunctor>(x, y, out);
}

/// Comparisons: T is the inputs' dtype, out is bool. With NaN on a side all but not_equal are
/// false.
template <typename T, typename Context>
void EqualKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  compare<T, EqualFunctor>(x, y, out);
}

template <typename T, typename Context>
void GreaterEqualKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                        DenseTensor* out) {
  compare<T, GreaterEqualFunctor>(x, y, out);
}

template <typename T, typename Context>
void NotEqualKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  compare<T, NotEqualFunctor>(x, y, out);
}

template <typename T, typename Context>
void GreaterThanKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                       DenseTensor* out) {
  compare<T, GreaterThanFunctor>(x, y, out);
}

PHI_REGISTER_KERNEL(add, CPU, AddKernel, AllTypes);
PHI_REGISTER_KERNEL(subtract, CPU, SubtractKernel, Numbers);
PHI_REGISTER_KERNEL(multiply, CPU, MultiplyKernel, AllTypes);
PHI_REGISTER_KERNEL(divide, CPU, DivideKernel, Numbers);
PHI_REGISTER_KERNEL(maximum, CPU, MaximumKernel, AllTypes);
PHI_REGISTER_KERNEL(equal, CPU, EqualKernel, AllTypes);
PHI_REGISTER_KERNEL(greater_equal, CPU, GreaterEqualKernel, AllTypes);
PHI_REGISTER_KERNEL(not_equal, CPU, NotEqualKernel, AllTypes);
PHI_REGISTER_KERNEL(greater_than, CPU, GreaterThanKernel, AllTypes);

}  // namespace phi
