// cumsum, cumprod and logcumsumexp on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/scan/scan_loop.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/templates/converted.h"

namespace phi {
namespace {

template <template <typename> typename Scan, typename T>
void scan(const DenseTensor& x, int64_t axis, bool flatten, bool exclusive, bool reverse,
          DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisView view = flatten ? AxisView::flat(x.numel()) : AxisView(x.dims(), axis);
  scan_loop<Scan<compute_t<T>>>(x.data<T>(), view, exclusive, reverse, out->mutable_data<T>());
}

}  // namespace

template <typename T, typename Context>
void CumsumKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  bool exclusive, bool reverse, DenseTensor* out) {
  scan<SumScan, T>(x, axis.to<int64_t>(), flatten, exclusive, reverse, out);
}

template <typename T, typename Context>
void CumprodKernel(const Context&, const DenseTensor& x, int dim, bool exclusive, bool reverse,
                   DenseTensor* out) {
  scan<ProdScan, T>(x, dim, false, exclusive, reverse, out);
}

/// Integers give float32.
template <typename T, typename Context>
void LogcumsumexpKernel(const Context& ctx, const DenseTensor& x, int axis, bool flatten,
                        bool exclusive, bool reverse, DenseTensor* out) {
  using F = floating_t<T>;
  scan<LogSumExpScan, F>(converted<F, T>(ctx, x), axis, flatten, exclusive, reverse, out);
}

using CpuCumprodTypes = join_t<Numbers, Complexes>;
using CpuCumsumTypes = join_t<join_t<TypeList<int8_t, int16_t>, Numbers>, Complexes>;

PHI_REGISTER_KERNEL(cumsum, CPU, CumsumKernel, CpuCumsumTypes);
PHI_REGISTER_KERNEL(cumprod, CPU, CumprodKernel, CpuCumprodTypes);
PHI_REGISTER_KERNEL(logcumsumexp, CPU, LogcumsumexpKernel, RealNumbers);

}  // namespace phi
