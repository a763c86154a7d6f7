// addmm on the CPU: a matmul added to an array that broadcasts.
#include <algorithm>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "phi/kernels/cpu/matmul/matmul_operands.h"
#include "phi/kernels/matmul/addmm.h"

namespace phi {
namespace {

/// Strides of an input of one or two tensor dims that broadcasts to [m, n].
struct Added {
  explicit Added(const Dims& dims)
      : row_step(dims.ndim() == 2 && dims[0] != 1 ? dims.back() : 0),
        column_step(dims.back() != 1 ? 1 : 0) {}
  int64_t at(int64_t i, int64_t j) const { return i * row_step + j * column_step; }
  int64_t row_step;
  int64_t column_step;
};

/// The matmuls of addmm and its gradient.
struct AddmmShapes {
  AddmmShapes(const DenseTensor& x, const DenseTensor& y, float alpha)
      : AddmmShapes(x.dims()[0], y.dims()[1], x.dims()[1], alpha) {}
  AddmmShapes(int64_t m, int64_t n, int64_t k, float alpha)
      : out{.m = m, .n = n, .k = counted(alpha, k)},
        x_grad{.m = m, .n = k, .k = counted(alpha, n), .trans_b = true},
        y_grad{.m = k, .n = n, .k = counted(alpha, m), .trans_a = true} {}

  GemmShape out, x_grad, y_grad;
};

}  // namespace

/// out = beta input + alpha x y. An operand whose factor is 0 is not read.
template <typename T, typename Context>
void AddmmKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& x,
                 const DenseTensor& y, float beta, float alpha, DenseTensor* out) {
  using C = accumulator_t<T>;
  const int64_t m = x.dims()[0], k = x.dims()[1], n = y.dims()[1];
  T* to = out->mutable_data<T>();
  const bool adds = beta != 0 && has_first_part(ctx, x);
  if (adds) {
    const Added added(input.dims());
    const T* from = input.data<T>();
    for (int64_t i = 0; i < m; ++i) {
      const T* row = from + added.at(i, 0);
      if (added.column_step == 1) {
        std::copy_n(row, n, to + i * n);
      } else {
        std::fill_n(to + i * n, n, *row);
      }
    }
  }
  gemm<T>(AddmmShapes(x, y, alpha).out, C(alpha), x.data<T>(), k, y.data<T>(), n,
          C(adds ? beta : 0.0f), to, n);
}

template <typename T, typename Context>
void AddmmScratch(const Context& ctx, const DenseTensor& /*input*/, const DenseTensor& x,
                  const DenseTensor& y, float /*beta*/, float alpha, DenseTensor* /*out*/) {
  plan_gemm_scratch<T, T>(AddmmShapes(x, y, alpha).out, &ctx.scratch());
}

/// If x's second tensor dim is split, input_grad is a partial sum, as the output was.
template <typename T, typename Context>
void AddmmGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out_grad, float beta, float alpha, DenseTensor* input_grad,
                     DenseTensor* x_grad, DenseTensor* y_grad) {
  using C = accumulator_t<T>;
  const int64_t m = x.dims()[0], k = x.dims()[1], n = y.dims()[1];
  const AddmmShapes shapes(x, y, alpha);
  const T* g = out_grad.data<T>();
  if (input_grad) {
    const Added added(input_grad->dims());
    std::vector<C> sums(static_cast<size_t>(input_grad->numel()));
    const int64_t rows = has_first_part(ctx, x) ? m : 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        sums[static_cast<size_t>(added.at(i, j))] += C(beta) * static_cast<C>(g[i * n + j]);
      }
    }
    convert(sums.data(), input_grad->mutable_data<T>(), input_grad->numel());
  }
  if (x_grad) {
    gemm<T>(shapes.x_grad, C(alpha), g, n, Conjugated<T>(y).data(), n, C(0),
            x_grad->mutable_data<T>(), k);
  }
  if (y_grad) {
    gemm<T>(shapes.y_grad, C(alpha), Conjugated<T>(x).data(), k, g, n, C(0),
            y_grad->mutable_data<T>(), n);
  }
}

template <typename T, typename Context>
void AddmmGradScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                      const DenseTensor& /*out_grad*/, float /*beta*/, float alpha,
                      DenseTensor* /*input_grad*/, DenseTensor* x_grad, DenseTensor* y_grad) {
  const AddmmShapes shapes(x, y, alpha);
  if (x_grad) plan_gemm_scratch<T, T>(shapes.x_grad, &ctx.scratch());
  if (y_grad) plan_gemm_scratch<T, T>(shapes.y_grad, &ctx.scratch());
}

PHI_REGISTER_KERNEL(addmm, CPU, AddmmKernel, MatmulTypes);
PHI_REGISTER_SCRATCH(addmm, AddmmScratch, Halves);
PHI_REGISTER_KERNEL(addmm_grad, CPU, AddmmGradKernel, MatmulTypes);
PHI_REGISTER_SCRATCH(addmm_grad, AddmmGradScratch, Halves);

}  // namespace phi
