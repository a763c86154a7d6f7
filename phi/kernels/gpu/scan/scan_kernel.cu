// Cumulative sums, products and sums of exponentials on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/scan/scan_lines.h"

namespace phi {
namespace {

/// out may be x: each thread writes what it alone has read.
template <typename Scan, typename T>
struct ScanLine {
  const T* x;
  T* out;
  gpu::AxisLines lines;
  bool exclusive;
  bool reverse;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    const auto at = [&](int64_t k) { return first + lines.at(reverse ? lines.n - 1 - k : k); };
    gpu::scan_line<Scan>(
        team, lines.n,
        [&](int64_t k) { return Scan::join(Scan::start(), static_cast<compute_t<T>>(x[at(k)])); },
        [&](int64_t k, const auto& before, const auto& joined) {
          out[at(k)] = static_cast<T>(Scan::value(exclusive ? before : joined));
        });
  }
};

template <template <typename> typename Scan, typename T>
void scan(const GpuContext& ctx, const DenseTensor& x, int64_t axis, bool flatten, bool exclusive,
          bool reverse, DenseTensor* out) {
  if (x.numel() == 0) return;
  const auto lines = flatten ? gpu::AxisLines::rows(1, x.numel()) : gpu::AxisLines(x.dims(), axis);
  for_each_line(ctx, lines,
                ScanLine<Scan<compute_t<T>>, T>{x.data<T>(), out->mutable_data<T>(), lines,
                                                exclusive, reverse});
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

template <typename T, typename Context>
void LogcumsumexpKernel(const Context& ctx, const DenseTensor& x, int axis, bool flatten,
                        bool exclusive, bool reverse, DenseTensor* out) {
  scan<LogSumExpScan, T>(ctx, x, axis, flatten, exclusive, reverse, out);
}

PHI_REGISTER_KERNEL(cumsum, GPU, CumsumKernel, Numbers);
PHI_REGISTER_KERNEL(cumprod, GPU, CumprodKernel, Numbers);
PHI_REGISTER_KERNEL(logcumsumexp, GPU, LogcumsumexpKernel, Floats);

}  // namespace phi
