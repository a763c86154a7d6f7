// CPU kernels of elementwise ops on two inputs.
#include <algorithm>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/elementwise_loop.h"
#include "phi/kernels/elementwise_kernel.h"
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

template <typename T>
void AddKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  binary<T, AddFunctor>(x, y, out);
}

template <typename T>
void SubtractKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y,
                    DenseTensor* out) {
  binary<T, SubtractFunctor>(x, y, out);
}

template <typename T>
void MultiplyKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y,
                    DenseTensor* out) {
  binary<T, MultiplyFunctor>(x, y, out);
}

template <typename T>
void DivideKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  if constexpr (std::is_integral_v<T>) {
    const auto divisors = y.values<T>();
    PHI_CHECK(
        out->numel() == 0 || std::ranges::find(divisors, T(0)) == divisors.end(),
        errors::InvalidArgument("y {} has a 0, which no integer can be divided by; cast x and "
                                "y to a floating type for infinities.",
                                y.meta().to_string()));
  }
  binary<T, DivideFunctor>(x, y, out);
}

template <typename T>
void MaximumKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y,
                   DenseTensor* out) {
  binary<T, MaximumFunctor>(x, y, out);
}

template <typename T>
void EqualKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  compare<T, EqualFunctor>(x, y, out);
}

template <typename T>
void GreaterEqualKernel(const CpuContext&, const DenseTensor& x, const DenseTensor& y,
                        DenseTensor* out) {
  compare<T, GreaterEqualFunctor>(x, y, out);
}

PHI_REGISTER_KERNEL(add, CPU, AddKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16, float,
                    double);
PHI_REGISTER_KERNEL(subtract, CPU, SubtractKernel, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);
PHI_REGISTER_KERNEL(multiply, CPU, MultiplyKernel, bool, uint8_t, int32_t, int64_t, float16,
                    bfloat16, float, double);
PHI_REGISTER_KERNEL(divide, CPU, DivideKernel, uint8_t, int32_t, int64_t, float16, bfloat16, float,
                    double);
PHI_REGISTER_KERNEL(maximum, CPU, MaximumKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);
PHI_REGISTER_KERNEL(equal, CPU, EqualKernel, bool, uint8_t, int32_t, int64_t, float16, bfloat16,
                    float, double);
PHI_REGISTER_KERNEL(greater_equal, CPU, GreaterEqualKernel, bool, uint8_t, int32_t, int64_t,
                    float16, bfloat16, float, double);

}  // namespace phi
