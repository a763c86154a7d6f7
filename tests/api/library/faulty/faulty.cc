// Functions and kernels of faulty.yaml.
#include "faulty/faulty.h"

#include <algorithm>
#include <functional>

#include "t_faulty_ops/kernels/faulty.h"

namespace phi {

distributed::SpmdRule distributed::TwoOutputsInferSpmd(const TensorSpec& x) {
  const auto batch = Factors::batch(x.ndim());
  return Factors().input(x, batch, "").output(batch, "").output(batch, "");
}

namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void LiarKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  std::ranges::copy(x.values<T>(), out->mutable_data<T>());
}

// The maximum of all, which is no function of an element.
template <typename T, typename Context>
void UnsoundKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const auto values = x.values<T>();
  const T most = values.empty() ? T(0) : std::ranges::max(values);
  std::fill_n(out->mutable_data<T>(), out->numel(), most);
}

template <typename T, typename Context>
void ProductOfPartsKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                          DenseTensor* out) {
  std::ranges::transform(x.values<T>(), y.values<T>(), out->mutable_data<T>(),
                         std::multiplies<T>());
}

PHI_REGISTER_KERNEL(t_liar, CPU, LiarKernel, Floating);
PHI_REGISTER_KERNEL(t_product_of_parts, CPU, ProductOfPartsKernel, TypeList<float, double>);
PHI_REGISTER_KERNEL(t_unsound, CPU, UnsoundKernel, Floating);

}  // namespace
}  // namespace phi
