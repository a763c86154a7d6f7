// log-sum-exp over some tensor dims on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/functors/log_sum_exp.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/converted.h"

namespace phi {

/// Integers are computed in float32.
template <typename T, typename Context>
void LogsumexpKernel(const Context& ctx, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  using F = floating_t<T>;
  const DenseTensor values = converted<F, T>(ctx, x);
  reduce<LogSumExpReducer<F>>(ctx, values.data<F>(), x.dims(),
                              normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()),
                              out->mutable_data<F>(), LogOfSum<compute_t<F>>());
}

PHI_REGISTER_KERNEL(logsumexp, GPU, LogsumexpKernel, RealNumbers);

}  // namespace phi
