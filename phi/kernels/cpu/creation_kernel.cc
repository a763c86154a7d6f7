// CPU kernels that make arrays from attributes, copy them or change their dtype.
#include "phi/kernels/creation_kernel.h"

#include <algorithm>
#include <cstring>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/unary_kernel.h"

namespace phi {

template <typename T>
void FullKernel(const CpuContext&, const Scalar& value, DenseTensor* out) {
  const T element =
      is_floating(value.dtype()) ? convert_value<T>(value.to<double>()) : value.to<T>();
  std::fill_n(out->mutable_data<T>(), out->numel(), element);
}

template <typename T>
void ArangeKernel(const CpuContext& ctx, const Scalar& start, const Scalar& step,
                  DenseTensor* out) {
  // In double the i-th element has one rounding of its own, not the sum of those before it.
  using C = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const bool fractional = is_floating(start.dtype()) || is_floating(step.dtype());
  const int64_t first = ctx.output_box(0, out->dims()).box.offset[0];
  T* values = out->mutable_data<T>();
  const int64_t n = out->numel();
  if (std::is_integral_v<T> && fractional) {
    const double from = start.to<double>();
    const double by = step.to<double>();
    for (int64_t i = 0; i < n; ++i) {
      values[i] =
          convert_value<T>(static_cast<int64_t>(from + static_cast<double>(first + i) * by));
    }
    return;
  }
  const C from = start.to<C>();
  const C by = step.to<C>();
  for (int64_t i = 0; i < n; ++i)
    values[i] = convert_value<T>(from + static_cast<C>(first + i) * by);
}

template <typename T>
void CastKernel(const CpuContext&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  visit_dtype(out->dtype(),
              [&]<typename To>() { convert(from, out->mutable_data<To>(), x.numel()); });
}

template <typename T>
void AssignKernel(const CpuContext&, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (x.numel() > 0 && from != to) std::memcpy(to, from, x.nbytes());
}

PHI_REGISTER_KERNEL(full, CPU, FullKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);
PHI_REGISTER_KERNEL(arange, CPU, ArangeKernel, uint8_t, int32_t, int64_t, float16, bfloat16, float,
                    double);
PHI_REGISTER_KERNEL(cast, CPU, CastKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);
PHI_REGISTER_KERNEL(assign, CPU, AssignKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);

}  // namespace phi
