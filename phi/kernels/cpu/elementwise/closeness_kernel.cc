// Comparisons of whole tensors on the CPU: isclose, allclose, equal_all, accuracy_check.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/closeness.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/elementwise/closeness.h"

namespace phi {
namespace {

template <typename T, typename F>
void compare(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, F f) {
  binary_loop(x.data<T>(), y.data<T>(), out->mutable_data<bool>(), x.numel(), f);
}

// Whether f is true for all pairs; true if there are none.
template <typename T, typename F>
bool all_pairs(const DenseTensor& x, const DenseTensor& y, F f) {
  const T* a = x.data<T>();
  const T* b = y.data<T>();
  bool holds[kConvertBlock];
  for (int64_t i = 0; i < x.numel(); i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, x.numel() - i);
    binary_loop(a + i, b + i, holds, count, f);
    if (!std::all_of(holds, holds + count, [](bool each) { return each; })) return false;
  }
  return true;
}

template <typename T>
std::string text_of(T x) {
  if constexpr (kIsComplex<T>) {
    return fmt::format("{}{:+}i", x.real(), x.imag());
  } else {
    return fmt::format("{}", convert_value<double>(x));
  }
}

}  // namespace

template <typename T, typename Context>
void IsCloseKernel(const Context&, const DenseTensor& x, const DenseTensor& y, const Scalar& rtol,
                   const Scalar& atol, bool equal_nan, DenseTensor* out) {
  compare<T>(x, y, out, closeness(rtol, atol, equal_nan));
}

/// The result for the local part. The ranks' results are combined by logical and.
template <typename T, typename Context>
void AllCloseKernel(const Context&, const DenseTensor& x, const DenseTensor& y, const Scalar& rtol,
                    const Scalar& atol, bool equal_nan, DenseTensor* out) {
  *out->mutable_data<bool>() = all_pairs<T>(x, y, closeness(rtol, atol, equal_nan));
}

template <typename T, typename Context>
void EqualAllKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  *out->mutable_data<bool>() =
      x.dims() == y.dims() && all_pairs<T>(x, y, EqualFunctor<compute_t<T>>());
}

/// Errors: InvalidArgument with `fn_name` and the first pair that is not close.
template <typename T, typename Context>
void AccuracyCheckKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                         const std::string& fn_name, double rtol, double atol, bool equal_nan,
                         DenseTensor* out) {
  compare<T>(x, y, out, IsCloseFunctor{rtol, atol, equal_nan});
  const bool* close = out->data<bool>();
  const int64_t apart = std::find(close, close + x.numel(), false) - close;
  if (apart == x.numel()) return;
  throw errors::InvalidArgument(
      "the check of {} failed: at flat position {} (of this rank) x is {} and y is {}, with rtol "
      "{} "
      "and atol {}.",
      fn_name, apart, text_of(x.data<T>()[apart]), text_of(y.data<T>()[apart]), rtol, atol);
}

PHI_REGISTER_KERNEL(isclose, CPU, IsCloseKernel, EveryType);
PHI_REGISTER_KERNEL(allclose, CPU, AllCloseKernel, EveryType);
PHI_REGISTER_KERNEL(equal_all, CPU, EqualAllKernel, EveryType);
PHI_REGISTER_KERNEL(accuracy_check, CPU, AccuracyCheckKernel, EveryType);

}  // namespace phi
