// log-sum-exp over some tensor dims on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/functors/log_sum_exp.h"
#include "phi/kernels/gpu/reduce.h"

namespace phi {

template <typename T, typename Context>
void LogsumexpKernel(const Context& ctx, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  reduce<LogSumExpReducer<T>>(ctx, x.data<T>(), x.dims(),
                              normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()),
                              out->mutable_data<T>(), LogOfSum<compute_t<T>>());
}

PHI_REGISTER_KERNEL(logsumexp, GPU, LogsumexpKernel, Floats);

}  // namespace phi
