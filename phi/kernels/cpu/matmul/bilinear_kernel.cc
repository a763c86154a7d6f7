// bilinear and its gradient on the CPU: for each output, one matmul of x with the output's matrix
// of weight.
#include <algorithm>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/bilinear.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

struct Extents {
  int64_t n, i, j, k;
};

Extents extents(const DenseTensor& x, const DenseTensor& weight) {
  return {x.dims()[0], weight.dims()[1], weight.dims()[2], weight.dims()[0]};
}

template <typename T, typename C>
std::vector<C> widened(const DenseTensor& x) {
  std::vector<C> values(x.numel());
  convert(x.data<T>(), values.data(), x.numel());
  return values;
}

template <typename T, typename C>
void narrow(const std::vector<C>& values, DenseTensor* out) {
  if (out) convert(values.data(), out->mutable_data<T>(), static_cast<int64_t>(values.size()));
}

}  // namespace

/// out[n, k] = sum over i, j of x[n, i] * weight[k, i, j] * y[n, j], + bias[0, k].
template <typename T, typename Context>
void BilinearKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                    const DenseTensor& weight, const DenseTensor* bias, DenseTensor* out) {
  using C = compute_t<T>;
  const Extents e = extents(x, weight);
  const std::vector<C> xs = widened<T, C>(x);
  const std::vector<C> ys = widened<T, C>(y);
  const std::vector<C> ws = widened<T, C>(weight);
  const ComputeArray<C> biases(bias);
  std::vector<C> product(e.n * e.j);
  std::vector<C> result(e.n * e.k);
  for (int64_t k = 0; k < e.k; ++k) {
    gemm<C>({.m = e.n, .n = e.j, .k = e.i}, C(1), xs.data(), e.i, ws.data() + k * e.i * e.j, e.j,
            C(0), product.data(), e.j);
    for (int64_t n = 0; n < e.n; ++n) {
      const C* row = product.data() + n * e.j;
      const C* with = ys.data() + n * e.j;
      result[n * e.k + k] = row_sum<C>(e.j, [=](int64_t j) { return row[j] * with[j]; }) +
                            (bias ? biases.data()[k] : C(0));
    }
  }
  narrow<T>(result, out);
}

/// With g = out_grad: x_grad = sum over k of g[:, k] * (y weight[k]^T), y_grad = sum over k of g[:,
/// k] * (x weight[k]), weight_grad[k] = (g[:, k] * x)^T y, bias_grad = sum over n of g. An output
/// that is not wanted is null.
template <typename T, typename Context>
void BilinearGradKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                        const DenseTensor& weight, const DenseTensor& out_grad, DenseTensor* x_grad,
                        DenseTensor* y_grad, DenseTensor* weight_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const Extents e = extents(x, weight);
  const std::vector<C> xs = widened<T, C>(x);
  const std::vector<C> ys = widened<T, C>(y);
  const std::vector<C> ws = widened<T, C>(weight);
  const std::vector<C> gs = widened<T, C>(out_grad);
  std::vector<C> dx(x_grad ? e.n * e.i : 0);
  std::vector<C> dy(y_grad ? e.n * e.j : 0);
  std::vector<C> dw(weight_grad ? e.k * e.i * e.j : 0);
  std::vector<C> db(bias_grad ? e.k : 0);
  std::vector<C> scaled_x(e.n * e.i);
  std::vector<C> scaled_y(x_grad ? e.n * e.j : 0);
  for (int64_t k = 0; k < e.k; ++k) {
    const C* matrix = ws.data() + k * e.i * e.j;
    for (int64_t n = 0; n < e.n; ++n) {
      const C g = gs[n * e.k + k];
      for (int64_t i = 0; i < e.i; ++i) scaled_x[n * e.i + i] = g * xs[n * e.i + i];
      for (int64_t j = 0; x_grad && j < e.j; ++j) scaled_y[n * e.j + j] = g * ys[n * e.j + j];
      if (bias_grad) db[k] += g;
    }
    const C kept = k == 0 ? C(0) : C(1);
    if (x_grad)
      gemm<C>({.m = e.n, .n = e.i, .k = e.j, .trans_b = true}, C(1), scaled_y.data(), e.j, matrix,
              e.j, kept, dx.data(), e.i);
    if (y_grad)
      gemm<C>({.m = e.n, .n = e.j, .k = e.i}, C(1), scaled_x.data(), e.i, matrix, e.j, kept,
              dy.data(), e.j);
    if (weight_grad)
      gemm<C>({.m = e.i, .n = e.j, .k = e.n, .trans_a = true}, C(1), scaled_x.data(), e.i,
              ys.data(), e.j, C(0), dw.data() + k * e.i * e.j, e.j);
  }
  narrow<T>(dx, x_grad);
  narrow<T>(dy, y_grad);
  narrow<T>(dw, weight_grad);
  narrow<T>(db, bias_grad);
}

PHI_REGISTER_KERNEL(bilinear, CPU, BilinearKernel, Floats);
PHI_REGISTER_KERNEL(bilinear_grad, CPU, BilinearGradKernel, Floats);
PHI_REGISTER_NO_SCRATCH(bilinear, Halves);
PHI_REGISTER_NO_SCRATCH(bilinear_grad, Halves);

}  // namespace phi
