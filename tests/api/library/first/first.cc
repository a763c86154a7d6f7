// Functions and kernels of first.yaml.
#include "first/first.h"

#include <algorithm>

#include "phi/api.h"
#include "t_first_ops/kernels/first.h"

namespace phi {

TensorMeta FirstDimsInferMeta(const TensorMeta& x) {
  TensorMeta out = x;
  out.dims = Dims();
  for (int d = 0; d + 1 < x.dims.ndim(); ++d) out.dims.push_back(x.dims[d]);
  return out;
}

distributed::SpmdRule distributed::LastDimWholeInferSpmd(const TensorSpec& x) {
  const auto batch = Factors::batch(x.ndim() - 1);
  return Factors().input(x, batch, "n").output(batch, "n").whole("n");
}

Tensor composite::t_cube_grad(const Tensor& x, const Tensor& out_grad) {
  return multiply(scale(square(x), 3.0f), out_grad);
}

namespace {

using Floating = TypeList<float, double>;

template <typename T, typename Context>
void CubeKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  std::ranges::transform(x.values<T>(), out->mutable_data<T>(), [](T v) { return v * v * v; });
}

template <typename T, typename Context>
void RowSumKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t width = x.dims().back();
  T* to = out->mutable_data<T>();
  std::fill_n(to, out->numel(), T(0));
  for (int64_t i = 0; i < x.numel(); ++i) to[i / width] += x.data<T>()[i];
}

template <typename T, typename Context>
void ReversedKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t width = x.dims().back();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = x.data<T>()[i / width * width + width - 1 - i % width];
  }
}

template <typename T, typename Context>
void ScaledKernel(const Context&, const DenseTensor& x, float factor, DenseTensor* out) {
  std::ranges::transform(x.values<T>(), out->mutable_data<T>(),
                         [factor](T v) { return T(factor) * v; });
}

PHI_REGISTER_KERNEL(t_cube, CPU, CubeKernel, Floating);
PHI_REGISTER_KERNEL(t_row_sum, CPU, RowSumKernel, Floating);
PHI_REGISTER_KERNEL(t_reversed, CPU, ReversedKernel, Floating);
PHI_REGISTER_KERNEL(t_scaled, CPU, ScaledKernel, Floating);

}  // namespace
}  // namespace phi
