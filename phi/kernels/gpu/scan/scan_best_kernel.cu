// cummax and cummin on GPUs: the best element so far, and its place.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/order.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/scan/scan_lines.h"

namespace phi {
namespace {

/// The best of neighbours; a place of -1 is that of none.
template <typename Takes, typename C>
struct BestScan {
  struct State {
    C value;
    int64_t place;
  };
  PHI_HD static State start() { return {C(0), -1}; }
  PHI_HD static State merge(State a, State b) {
    if (a.place < 0) return b;
    if (b.place < 0) return a;
    return Takes()(b.value, a.value) ? b : a;
  }
};

template <typename Takes, typename T, typename Index>
struct BestLine {
  using C = compute_t<T>;
  using Scan = BestScan<Takes, C>;
  const T* x;
  T* out;
  Index* indices;
  gpu::AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    gpu::scan_line<Scan>(
        team, lines.n,
        [&](int64_t k) {
          return typename Scan::State{static_cast<C>(x[first + lines.at(k)]), k};
        },
        [&](int64_t k, const auto&, const auto& joined) {
          out[first + lines.at(k)] = static_cast<T>(joined.value);
          indices[first + lines.at(k)] = static_cast<Index>(joined.place);
        });
  }
};

template <template <typename> typename Takes, typename T, typename Index>
void scan_best(const GpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out,
               DenseTensor* indices) {
  const gpu::AxisLines lines(x.dims(), axis);
  for_each_line(ctx, lines,
                BestLine<Takes<compute_t<T>>, T, Index>{x.data<T>(), out->mutable_data<T>(),
                                                        indices->mutable_data<Index>(), lines});
}

template <template <typename> typename Takes, typename T>
void scan_best(const GpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out,
               DenseTensor* indices) {
  if (x.numel() == 0) return;
  if (indices->dtype() == DataType::INT32)
    return scan_best<Takes, T, int32_t>(ctx, x, axis, out, indices);
  scan_best<Takes, T, int64_t>(ctx, x, axis, out, indices);
}

}  // namespace

/// NaN is the largest; `indices`, int32 or int64, has the last place among equal ones.
template <typename T, typename Context>
void CummaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsLargest, T>(ctx, x, axis, out, indices);
}

/// The same with the smallest; NaN is that too.
template <typename T, typename Context>
void CumminKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsSmallest, T>(ctx, x, axis, out, indices);
}

PHI_REGISTER_KERNEL(cummax, GPU, CummaxKernel, Numbers);
PHI_REGISTER_KERNEL(cummin, GPU, CumminKernel, Numbers);

}  // namespace phi
