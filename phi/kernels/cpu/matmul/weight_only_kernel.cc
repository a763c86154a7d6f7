// Weights of 8 bits on the CPU: made of matrices, back, and multiplied with.
#include <algorithm>
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/quantized.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/refuse.h"
#include "phi/kernels/functors/quantize.h"

namespace phi {
namespace {

/// Elements [begin, end) of each column, which share scale number `index`.
struct Group {
  int64_t index;
  int64_t begin;
  int64_t end;
};

template <typename F>
void for_each_group(int64_t k, int group_size, F f) {
  const int64_t size = group_rows(k, group_size);
  for (int64_t begin = 0; begin < k; begin += size)
    f(Group{begin / size, begin, std::min(begin + size, k)});
}

/// Whole numbers below 256 are exact in all floats: the product with them rounds as that of x does.
template <typename T>
std::vector<T> widened(const DenseTensor& weight) {
  const int8_t* from = weight.data<int8_t>();
  std::vector<T> wide(static_cast<size_t>(weight.numel()));
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = convert_value<T>(static_cast<float>(from[i]));
  return wide;
}

}  // namespace

/// Errors: InvalidArgument with the place of what is not finite.
template <typename T, typename Context>
void WeightQuantizeKernel(const Context& ctx, const DenseTensor& x, int group_size,
                          DenseTensor* out, DenseTensor* scale) {
  refuse_elements<T>(ctx, x, IsNotFinite(), not_finite());
  const int64_t k = x.dims()[0];
  const int64_t n = x.dims()[1];
  const T* from = x.data<T>();
  int8_t* to = out->mutable_data<int8_t>();
  using C = compute_t<T>;
  C* scales = scale->mutable_data<C>();
  std::fill_n(scales, scale->numel(), C(0));
  for_each_group(k, group_size, [&](const Group& group) {
    for (int64_t c = 0; c < n; ++c) {
      double most = 0;
      for (int64_t r = group.begin; r < group.end; ++r)
        most = std::max(most, std::abs(static_cast<double>(from[r * n + c])));
      scales[group.index * n + c] = static_cast<C>(most / kLargestQuantized);
      for (int64_t r = group.begin; r < group.end; ++r)
        to[c * k + r] = quantized(static_cast<double>(from[r * n + c]), most);
    }
  });
}

template <typename T, typename Context>
void WeightDequantizeKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                            int group_size, DenseTensor* out) {
  const int64_t n = x.dims()[0];
  const int64_t k = x.dims()[1];
  using C = compute_t<T>;
  const int8_t* from = x.data<int8_t>();
  const C* scales = scale.data<C>();
  T* to = out->mutable_data<T>();
  for_each_group(k, group_size, [&](const Group& group) {
    for (int64_t r = group.begin; r < group.end; ++r) {
      for (int64_t c = 0; c < n; ++c)
        to[r * n + c] =
            convert_value<T>(static_cast<C>(from[c * k + r]) * scales[group.index * n + c]);
    }
  });
}

/// out = the sum over groups of (x of the group times whole numbers) times scale, plus bias, kept
/// in the computing type until the end.
template <typename T, typename Context>
void WeightOnlyLinearKernel(const Context&, const DenseTensor& x, const DenseTensor& weight,
                            const DenseTensor* bias, const DenseTensor& weight_scale,
                            int group_size, DenseTensor* out) {
  using C = compute_t<T>;
  const int64_t n = weight.dims()[0];
  const int64_t k = weight.dims()[1];
  const int64_t m = x.dims().numel(0, x.ndim() - 1);
  const std::vector<T> wide = widened<T>(weight);
  const C* scales = weight_scale.data<C>();
  std::vector<C> product(static_cast<size_t>(m * n));
  std::vector<C> sum(static_cast<size_t>(m * n));
  for_each_group(k, group_size, [&](const Group& group) {
    const GemmShape shape{.m = m, .n = n, .k = group.end - group.begin, .trans_b = true};
    gemm<T>(shape, 1, x.data<T>() + group.begin, k, wide.data() + group.begin, k, 0, product.data(),
            n);
    const C* factors = scales + group.index * n;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) sum[r * n + c] += product[r * n + c] * factors[c];
    }
  });
  T* to = out->mutable_data<T>();
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      const C shift = bias ? static_cast<C>(bias->data<T>()[c]) : C(0);
      to[r * n + c] = convert_value<T>(sum[r * n + c] + shift);
    }
  }
}

/// x_grad = (out_grad * scale) times the whole numbers, group by group of its columns.
template <typename T, typename Context>
void WeightOnlyLinearGradKernel(const Context&, const DenseTensor& weight,
                                const DenseTensor& weight_scale, const DenseTensor& out_grad,
                                int group_size, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const int64_t n = weight.dims()[0];
  const int64_t k = weight.dims()[1];
  const int64_t m = out_grad.dims().numel(0, out_grad.ndim() - 1);
  const std::vector<C> wide = widened<C>(weight);
  const C* scales = weight_scale.data<C>();
  const T* grads = out_grad.data<T>();
  std::vector<C> scaled(static_cast<size_t>(m * n));
  std::vector<C> sum(static_cast<size_t>(m * k));
  for_each_group(k, group_size, [&](const Group& group) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c)
        scaled[r * n + c] = static_cast<C>(grads[r * n + c]) * scales[group.index * n + c];
    }
    const GemmShape shape{.m = m, .n = group.end - group.begin, .k = n};
    gemm<C>(shape, 1, scaled.data(), n, wide.data() + group.begin, k, 0, sum.data() + group.begin,
            k);
  });
  convert(sum.data(), x_grad->mutable_data<T>(), m * k);
}

PHI_REGISTER_KERNEL(weight_quantize, CPU, WeightQuantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_dequantize, CPU, WeightDequantizeKernel, Floats);
PHI_REGISTER_KERNEL(weight_only_linear, CPU, WeightOnlyLinearKernel, Floats);
PHI_REGISTER_KERNEL(weight_only_linear_grad, CPU, WeightOnlyLinearGradKernel, Floats);

}  // namespace phi
