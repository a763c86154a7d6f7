// cumsum, cumprod and logcumsumexp on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/scan/scan_parts.h"
#include "phi/kernels/templates/converted.h"

namespace phi {
namespace {

/// x as the states of single elements, in the order of the scan.
template <typename Scan, typename T>
struct StateOf {
  const T* x;
  gpu::AxisLines lines;
  bool reverse;

  __device__ int64_t place(int64_t line, int64_t k) const {
    return lines.start(line) + lines.at(reverse ? lines.n - 1 - k : k);
  }
  __device__ auto operator()(int64_t line, int64_t k) const {
    return Scan::join(Scan::start(), static_cast<compute_t<T>>(x[place(line, k)]));
  }
};

/// out may be x, because each thread writes only elements that it alone has read.
template <typename Scan, typename T>
struct StoreValue {
  StateOf<Scan, T> of;
  T* out;
  bool exclusive;

  template <typename State>
  __device__ void operator()(int64_t line, int64_t k, const State& before,
                             const State& joined) const {
    out[of.place(line, k)] = static_cast<T>(Scan::value(exclusive ? before : joined));
  }
};

template <template <typename> typename ScanOf, typename T>
void scan(const GpuContext& ctx, const DenseTensor& x, int64_t axis, bool flatten, bool exclusive,
          bool reverse, DenseTensor* out) {
  using Scan = ScanOf<compute_t<T>>;
  if (x.numel() == 0) return;
  const auto lines = flatten ? gpu::AxisLines::rows(1, x.numel()) : gpu::AxisLines(x.dims(), axis);
  const StateOf<Scan, T> state{x.data<T>(), lines, reverse};
  gpu::scan_lines<Scan>(ctx, lines, state,
                        StoreValue<Scan, T>{state, out->mutable_data<T>(), exclusive});
}

}  // namespace

template <typename T, typename Context>
void CumsumKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  bool exclusive, bool reverse, DenseTensor* out) {
  scan<SumScan, T>(ctx, x, axis.to<int64_t>(), flatten, exclusive, reverse, out);
}

template <typename T, typename Context>
void CumprodKernel(const Context& ctx, const DenseTensor& x, int dim, bool exclusive, bool reverse,
                   DenseTensor* out) {
  scan<ProdScan, T>(ctx, x, dim, false, exclusive, reverse, out);
}

/// Integers are computed in float32.
template <typename T, typename Context>
void LogcumsumexpKernel(const Context& ctx, const DenseTensor& x, int axis, bool flatten,
                        bool exclusive, bool reverse, DenseTensor* out) {
  using F = floating_t<T>;
  scan<LogSumExpScan, F>(ctx, converted<F, T>(ctx, x), axis, flatten, exclusive, reverse, out);
}

using GpuCumprodTypes = join_t<Numbers, Complexes>;
using GpuCumsumTypes = join_t<join_t<TypeList<int8_t, int16_t>, Numbers>, Complexes>;

PHI_REGISTER_KERNEL(cumsum, GPU, CumsumKernel, GpuCumsumTypes);
PHI_REGISTER_KERNEL(cumprod, GPU, CumprodKernel, GpuCumprodTypes);
PHI_REGISTER_KERNEL(logcumsumexp, GPU, LogcumsumexpKernel, RealNumbers);

}  // namespace phi
