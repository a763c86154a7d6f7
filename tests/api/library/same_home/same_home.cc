// The kernel of same_home.yaml.
#include "t_same_home/kernels/same_home.h"

#include <algorithm>

namespace phi {
namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void Kernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  std::ranges::copy(x.values<T>(), out->mutable_data<T>());
}

PHI_REGISTER_KERNEL(erfinv, CPU, Kernel, Floating);

}  // namespace
}  // namespace phi
