// The sum of squares of a whole array on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

// Returns the sum of squares of n numbers. Lanes are double, which holds the square of any float.
template <typename C>
double squared_row(const C* x, int64_t n) {
  return run_best_isa<C>([=] {
    return row_sum<double>(n, [x](int64_t i) {
      const auto value = static_cast<double>(x[i]);
      return value * value;
    });
  });
}

}  // namespace

/// The sum of squares, computed in float64 and stored as float32, or as float64 for double.
template <typename T, typename Context>
void SquaredL2NormKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  const int64_t n = x.numel();
  double sum = 0;
  if constexpr (kIs16Bit<T>) {
    float buffer[kConvertBlock];
    for (int64_t i = 0; i < n; i += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - i);
      convert(from + i, buffer, count);
      sum += squared_row(buffer, count);
    }
  } else {
    sum = squared_row(from, n);
  }
  using Out = std::conditional_t<std::is_same_v<T, double>, double, float>;
  *out->mutable_data<Out>() = static_cast<Out>(sum);
}

PHI_REGISTER_KERNEL(squared_l2_norm, CPU, SquaredL2NormKernel, Floats);

}  // namespace phi
