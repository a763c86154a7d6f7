// cummax and cummin on the CPU: the best element so far, and its position.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/cpu/scan/scan_loop.h"
#include "phi/kernels/functors/scan.h"

namespace phi {
namespace {

template <template <typename> typename Takes, typename T>
void scan_best(const DenseTensor& x, int axis, DenseTensor* out, DenseTensor* indices) {
  if (x.numel() == 0) return;
  const AxisView view(x.dims(), axis);
  const Takes<compute_t<T>> takes;
  if (indices->dtype() == DataType::INT32) {
    return scan_best_loop(x.data<T>(), view, takes, out->mutable_data<T>(),
                          indices->mutable_data<int32_t>());
  }
  scan_best_loop(x.data<T>(), view, takes, out->mutable_data<T>(),
                 indices->mutable_data<int64_t>());
}

}  // namespace

/// NaN is the largest element. `indices`, int32 or int64, has the last position among equal
/// elements.
template <typename T, typename Context>
void CummaxKernel(const Context&, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsLargest, T>(x, axis, out, indices);
}

/// The same with the smallest element; here NaN is the smallest.
template <typename T, typename Context>
void CumminKernel(const Context&, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsSmallest, T>(x, axis, out, indices);
}

PHI_REGISTER_KERNEL(cummax, CPU, CummaxKernel, Numbers);
PHI_REGISTER_KERNEL(cummin, CPU, CumminKernel, Numbers);

}  // namespace phi
