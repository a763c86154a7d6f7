// Functions and kernels of first.yaml.
#include "first/first.h"

#include <algorithm>

#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "phi/tensor_api.h"
#include "t_first_ops/kernels/first.h"

namespace phi {

TensorMeta FirstDimsInferMeta(const TensorMeta& x) {
  TensorMeta out = x;
  out.dims = Dims();
  for (int d = 0; d + 1 < x.dims.ndim(); ++d) out.dims.push_back(x.dims[d]);
  return out;
}

std::tuple<std::vector<TensorMeta>, TensorMeta> MultiplesInferMeta(const TensorMeta& x, int num) {
  return {std::vector<TensorMeta>(static_cast<size_t>(num), x), FirstDimsInferMeta(x)};
}

TensorMeta SumOfInferMeta(const TensorMeta& x, std::span<const TensorMeta>) { return x; }

distributed::SpmdRule distributed::MultiplesInferSpmd(const TensorSpec& x, int num) {
  const auto batch = Factors::batch(x.ndim() - 1);
  Factors rule;
  rule.input(x, batch, "n");
  for (int i = 0; i < num; ++i) rule.output(batch, "n");
  return rule.output(batch, "");
}

distributed::SpmdRule distributed::SumOfInferSpmd(const TensorSpec& x,
                                                  std::span<const TensorSpec> others) {
  const auto all = Factors::batch(x.ndim());
  Factors rule;
  rule.input(x, all, "");
  for (const TensorSpec& other : others) rule.input(other, all, "");
  return rule.output(all, "");
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

template <typename T, typename Context>
void MultiplesKernel(const Context& context, const DenseTensor& x, int num,
                     std::span<DenseTensor* const> multiples, DenseTensor* total) {
  for (int i = 0; i < num; ++i) {
    std::ranges::transform(x.values<T>(), multiples[static_cast<size_t>(i)]->mutable_data<T>(),
                           [i](T v) { return T(i + 1) * v; });
  }
  RowSumKernel<T>(context, x, total);
}

template <typename T, typename Context>
void SumOfKernel(const Context&, const DenseTensor& x, std::span<const DenseTensor* const> others,
                 DenseTensor* out) {
  std::ranges::copy(x.values<T>(), out->mutable_data<T>());
  for (const DenseTensor* other : others) {
    for (int64_t i = 0; i < x.numel(); ++i) out->mutable_data<T>()[i] += other->data<T>()[i];
  }
}

PHI_REGISTER_KERNEL(t_multiples, CPU, MultiplesKernel, Floating);
PHI_REGISTER_KERNEL(t_sum_of, CPU, SumOfKernel, Floating);
PHI_REGISTER_KERNEL(t_cube, CPU, CubeKernel, Floating);
PHI_REGISTER_KERNEL(t_row_sum, CPU, RowSumKernel, Floating);
PHI_REGISTER_KERNEL(t_reversed, CPU, ReversedKernel, Floating);
PHI_REGISTER_KERNEL(t_scaled, CPU, ScaledKernel, Floating);

}  // namespace
}  // namespace phi
