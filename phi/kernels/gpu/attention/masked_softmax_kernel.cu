// Softmax of masked attention scores on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/masked_softmax.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

/// Line r belongs to query r % queries. `heads` adjacent heads share one mask.
template <typename T>
struct MaskedLine {
  const T* x;
  const T* mask;
  T* out;
  int64_t n;
  int64_t queries;
  int64_t heads;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const T* const row = x + line * n;
    const T* const added = mask + (line / (queries * heads) * queries + line % queries) * n;
    const auto value = [&](int64_t k) { return static_cast<C>(row[k]) + static_cast<C>(added[k]); };
    const C most = team.template largest<C>(n, value);
    const auto power = [&](int64_t k) { return fast::exp_or_zero(value(k) - most); };
    const C factor = C(1) / team.template sum<C>(n, power);
    team.each(n, [&](int64_t k) { out[line * n + k] = static_cast<T>(power(k) * factor); });
  }
};

}  // namespace

/// softmax(x + mask) along the last tensor dim. All heads share the mask.
template <typename T, typename Context>
void FusedSoftmaxMaskKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& mask,
                            DenseTensor* out) {
  if (x.numel() == 0) return;
  const Dims& dims = x.dims();
  gpu::for_each_line(ctx, gpu::AxisLines::rows(dims.numel(0, 3), dims[3]),
                     MaskedLine<T>{x.data<T>(), mask.data<T>(), out->mutable_data<T>(), dims[3],
                                   dims[2], dims[1]});
}

PHI_REGISTER_KERNEL(fused_softmax_mask, GPU, FusedSoftmaxMaskKernel, Floats);

}  // namespace phi
