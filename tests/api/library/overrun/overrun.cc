// The kernel of overrun.yaml.
#include "t_overrun_ops/kernels/overrun.h"

namespace phi {
namespace {

template <typename T, typename Context>
void OverrunKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i <= x.numel(); ++i) to[i] = T(1);  // one too many
}

PHI_REGISTER_KERNEL(t_overrun, CPU, OverrunKernel, TypeList<float>);

}  // namespace
}  // namespace phi
