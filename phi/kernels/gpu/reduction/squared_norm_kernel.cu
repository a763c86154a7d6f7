// The sum of squares of a whole array on GPUs.
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {

/// The sum of squares, accumulated in float64. out is float32, or float64 for double.
template <typename T, typename Context>
void SquaredL2NormKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  using Out = std::conditional_t<std::is_same_v<T, double>, double, float>;
  reduce_all<SumOfSquaresReducer<T>>(ctx, x.data<T>(), x.numel(), out->mutable_data<Out>());
}

PHI_REGISTER_KERNEL(squared_l2_norm, GPU, SquaredL2NormKernel, Floats);

}  // namespace phi
