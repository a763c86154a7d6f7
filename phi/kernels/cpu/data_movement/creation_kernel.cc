// CPU kernels that create arrays from attributes, copy arrays or convert their dtype.
#include <algorithm>
#include <cstring>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/creation.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/data_movement/evenly_spaced.h"
#include "phi/kernels/cpu/loop_isa.h"

namespace phi {

/// Sets every element to `value`.
template <typename T, typename Context>
void FullKernel(const Context&, const Scalar& value, DenseTensor* out) {
  const T element =
      is_floating(value.dtype()) ? convert_value<T>(value.to<double>()) : value.to<T>();
  std::fill_n(out->mutable_data<T>(), out->numel(), element);
}

/// Element i of the global array is start + i step. Floats are computed in double, with one
/// rounding per element instead of a running sum.
template <typename T, typename Context>
void ArangeKernel(const Context& ctx, const Scalar& start, const Scalar& step, DenseTensor* out) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const int64_t first = ctx.output_box(0, out->dims()).box.offset[0];
  T* values = out->mutable_data<T>();
  const int64_t n = out->numel();
  if (!kWhole || is_floating(start.dtype()) || is_floating(step.dtype())) {
    using Number = std::conditional_t<kWhole, int64_t, double>;
    for_evenly_spaced({start.to<double>(), step.to<double>()}, first, n,
                      [=](int64_t i, double number) {
                        values[i] = convert_value<T>(static_cast<Number>(number));
                      });
    return;
  }
  const auto from = start.to<int64_t>();
  const auto by = step.to<int64_t>();
  for (int64_t i = 0; i < n; ++i) values[i] = convert_value<T>(from + (first + i) * by);
}

/// Converts x to out's dtype; T is x's.
///
/// - Floats to integers: the fraction is dropped, NaN becomes 0, and numbers outside int32 or int64
///   become the nearest one inside. Narrower integers are converted through int32 and keep its low
///   bits, so -1 becomes 255.
/// - Integers to integers: low bits are kept.
/// - To bool: x != 0.
/// - Complex to real: the imaginary part is dropped.
template <typename T, typename Context>
void CastKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  visit_any_dtype(out->dtype(), [&, n = x.numel()]<typename To>() {
    run_best_isa<T>([from, to = out->mutable_data<To>(), n] { convert(from, to, n); });
  });
}

/// Copies x. out may be x.
template <typename T, typename Context>
void AssignKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (x.numel() > 0 && from != to) std::memcpy(to, from, x.nbytes());
}

PHI_REGISTER_KERNEL(full, CPU, FullKernel, EveryType);
PHI_REGISTER_KERNEL(arange, CPU, ArangeKernel, Numbers);
PHI_REGISTER_KERNEL(cast, CPU, CastKernel, EveryType);
PHI_REGISTER_KERNEL(assign, CPU, AssignKernel, EveryType);

}  // namespace phi
