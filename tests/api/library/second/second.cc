// The kernel of second.yaml.
#include "t_second_ops/kernels/second.h"

#include <algorithm>

namespace phi {
namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void Kernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  std::ranges::transform(x.values<T>(), out->mutable_data<T>(), [](T v) { return v / 2; });
}

PHI_REGISTER_KERNEL(t_halved, CPU, Kernel, Floating);

}  // namespace
}  // namespace phi
