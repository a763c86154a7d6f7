// The kernel of same_kernel.yaml.
#include "t_same_kernel/kernels/same_kernel.h"

#include <algorithm>

namespace phi {
namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void Kernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  std::ranges::transform(x.values<T>(), out->mutable_data<T>(), [](T v) { return v; });
}

PHI_REGISTER_KERNEL(t_cube, CPU, Kernel, Floating);

}  // namespace
}  // namespace phi
