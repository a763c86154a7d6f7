// addmm on GPUs: a matmul added to an array that broadcasts.
#include "phi/generated/kernels/matmul.h"
#include "phi/gpu/gemm.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/matmul/addmm.h"
#include "phi/kernels/templates/matmul/operands.h"
#include "phi/kernels/templates/sum_over.h"

namespace phi {
namespace {

/// c = alpha op(a) op(b) + beta c.
template <typename T>
void gemm(const GpuContext& ctx, gpu::GemmProblem shape, double alpha, const DenseTensor& a,
          const DenseTensor& b, double beta, DenseTensor* c) {
  shape.lda = a.dims()[1];
  shape.ldb = b.dims()[1];
  shape.ldc = shape.n;
  shape.dtype = shape.out = dtype_of<T>();
  gpu::GpuDevice& device = gpu::GpuDevice::of(ctx.place());
  device.gemm_runner().run(device, shape, alpha, a.data<T>(), b.data<T>(), beta,
                           c->mutable_data<T>());
}

template <typename C>
struct MultiplyBy {
  double factor;
  PHI_HD C operator()(C x) const {
    if constexpr (kIsComplex<C>) {
      using Part = typename C::value_type;
      return {static_cast<Part>(factor * x.real()), static_cast<Part>(factor * x.imag())};
    } else {
      return static_cast<C>(factor * static_cast<double>(x));
    }
  }
};

}  // namespace

/// out = beta input + alpha x y. An operand whose factor is 0 is not read.
template <typename T, typename Context>
void AddmmKernel(const Context& ctx, const DenseTensor& input, const DenseTensor& x,
                 const DenseTensor& y, float beta, float alpha, DenseTensor* out) {
  using C = compute_t<T>;
  const int64_t m = x.dims()[0], n = y.dims()[1], k = counted(alpha, x.dims()[1]);
  if (m * n == 0) return;
  const bool adds = beta != 0 && has_first_part(ctx, x);
  if (adds) {
    // The GEMM multiplies this copy by beta, unless k is 0.
    nary_loop<T>(ctx, {&input}, out, MultiplyBy<C>{k > 0 ? 1.0 : static_cast<double>(beta)});
  } else if (k == 0) {
    fill(ctx, out->mutable_data<T>(), out->numel(), T(0));
  }
  if (k > 0) gemm<T>(ctx, {.m = m, .n = n, .k = k}, alpha, x, y, adds ? beta : 0, out);
}

/// The gradient of the input is a partial sum if x's second tensor dim is sharded, as the output
/// was.
template <typename T, typename Context>
void AddmmGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out_grad, float beta, float alpha, DenseTensor* input_grad,
                     DenseTensor* x_grad, DenseTensor* y_grad) {
  const int64_t m = x.dims()[0], k = x.dims()[1], n = y.dims()[1];
  if (input_grad) {
    AxisSet summed;
    const Dims& dims = input_grad->dims();
    if (dims.ndim() < 2 || dims[0] == 1) summed.add(0);
    if (dims.back() == 1) summed.add(1);
    const double factor = has_first_part(ctx, x) ? beta : 0;
    sum_over(ctx, out_grad.data<T>(), out_grad.dims(), summed, input_grad->mutable_data<T>(),
             MultiplyBy<double>{factor});
  }
  const auto find = [&](gpu::GemmProblem shape, const DenseTensor& a, const DenseTensor& b,
                        DenseTensor* grad) {
    if (grad->numel() == 0) return;
    shape.k = counted(alpha, shape.k);
    if (shape.k == 0) return fill(ctx, grad->mutable_data<T>(), grad->numel(), T(0));
    gemm<T>(ctx, shape, alpha, a, b, 0, grad);
  };
  if (x_grad) {
    find({.m = m, .n = k, .k = n, .trans_b = true}, out_grad, conjugated<T>(ctx, y), x_grad);
  }
  if (y_grad) {
    find({.m = k, .n = n, .k = m, .trans_a = true}, conjugated<T>(ctx, x), out_grad, y_grad);
  }
}

PHI_REGISTER_KERNEL(addmm, GPU, AddmmKernel, MatmulTypes);
PHI_REGISTER_KERNEL(addmm_grad, GPU, AddmmGradKernel, MatmulTypes);

}  // namespace phi
