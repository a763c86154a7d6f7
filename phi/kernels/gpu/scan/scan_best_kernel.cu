// cummax and cummin on GPUs: the best element so far and its index.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/scan/scan_parts.h"

namespace phi {
namespace {

/// An element and its index in its line; -1 for none.
template <typename C>
struct ExtremeAndIndex {
  C value;
  int64_t place;
};

/// The best of some elements. The order of merging does not matter.
template <typename Takes, typename C>
struct ExtremeScan {
  using State = ExtremeAndIndex<C>;
  PHI_HD static constexpr State start() { return {C(0), -1}; }
  PHI_HD static State merge(State a, State b) {
    const State first = a.place < b.place ? a : b;
    const State second = a.place < b.place ? b : a;
    return first.place < 0 || Takes()(second.value, first.value) ? second : first;
  }
};

template <typename T>
struct ExtremeOfElement {
  const T* x;
  gpu::AxisLines lines;

  __device__ ExtremeAndIndex<compute_t<T>> operator()(int64_t line, int64_t k) const {
    return {static_cast<compute_t<T>>(x[lines.start(line) + lines.at(k)]), k};
  }
};

/// Stores indices as int64 or int32; one of the two pointers is null. Both types share a kernel to
/// save compile time.
template <typename T>
struct StoreExtreme {
  T* out;
  int64_t* wide;
  int32_t* narrow;
  gpu::AxisLines lines;

  template <typename State>
  __device__ void operator()(int64_t line, int64_t k, const State&, const State& best) const {
    const int64_t at = lines.start(line) + lines.at(k);
    out[at] = static_cast<T>(best.value);
    if (wide) {
      wide[at] = best.place;
    } else {
      narrow[at] = static_cast<int32_t>(best.place);
    }
  }
};

template <template <typename> typename Takes, typename T>
void scan_best(const GpuContext& ctx, const DenseTensor& x, int axis, DenseTensor* out,
               DenseTensor* indices) {
  using C = compute_t<T>;
  if (x.numel() == 0) return;
  const gpu::AxisLines lines(x.dims(), axis);
  const bool is_narrow = indices->dtype() == DataType::INT32;
  gpu::scan_lines<ExtremeScan<Takes<C>, C>>(
      ctx, lines, ExtremeOfElement<T>{x.data<T>(), lines},
      StoreExtreme<T>{out->mutable_data<T>(),
                      is_narrow ? nullptr : indices->mutable_data<int64_t>(),
                      is_narrow ? indices->mutable_data<int32_t>() : nullptr, lines});
}

}  // namespace

/// NaN is the largest. `indices`, int32 or int64, has the last index among equal elements.
template <typename T, typename Context>
void CummaxKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsLargest, T>(ctx, x, axis, out, indices);
}

/// The same for the smallest element; here NaN is the smallest.
template <typename T, typename Context>
void CumminKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                  DenseTensor* indices) {
  scan_best<IsSmallest, T>(ctx, x, axis, out, indices);
}

PHI_REGISTER_KERNEL(cummax, GPU, CummaxKernel, Numbers);
PHI_REGISTER_KERNEL(cummin, GPU, CumminKernel, Numbers);

}  // namespace phi
