// Dot products of rows on the CPU. Complex operands are not conjugated.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// The type in which products are computed; integers wrap around.
template <typename T>
using dot_t = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<compute_t<T>>>::type;

}  // namespace

template <typename T, typename Context>
void DotKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  using C = dot_t<T>;
  const int64_t n = x.dims().back();
  T* to = out->mutable_data<T>();
  using Read = read_t<T>;
  RowReader<T, Read> xs(x.data<T>(), n), ys(y.data<T>(), n);
  for (int64_t r = 0; r < out->numel(); ++r) {
    const Read* a = xs.row(r);
    const Read* b = ys.row(r);
    to[r] = static_cast<T>(run_best_isa<C>([=] {
      return row_sum<C>(n, [=](int64_t i) {
        return static_cast<C>(static_cast<C>(a[i]) * static_cast<C>(b[i]));
      });
    }));
  }
}

template <typename T, typename Context>
void DotGradKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                   const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) {
  using C = compute_t<T>;
  const int64_t n = x.dims().back();
  const T* g = out_grad.data<T>();
  const auto scale_rows = [&](const DenseTensor& other, DenseTensor* grad) {
    if (!grad) return;
    const Conjugated<T> factors(other);
    RowReader<T> reader(factors.data(), n);
    RowWriter<T> writer(grad->mutable_data<T>(), n);
    for (int64_t r = 0; r < out_grad.numel(); ++r) {
      const C scale = static_cast<C>(g[r]);
      const C* const from = reader.row(r);
      C* const to = writer.row(r);
      for (int64_t i = 0; i < n; ++i) to[i] = scale * from[i];
      writer.done(r);
    }
  };
  scale_rows(y, x_grad);
  scale_rows(x, y_grad);
}

using CpuDotTypes = join_t<SignedNumbers, Complexes>;
PHI_REGISTER_KERNEL(dot, CPU, DotKernel, CpuDotTypes);
PHI_REGISTER_KERNEL(dot_grad, CPU, DotGradKernel, MatmulTypes);

}  // namespace phi
