// SwiGLU, the gated linear unit with SiLU as its gate, and its gradient, on the CPU. N. Shazeer,
// "GLU Variants Improve Transformer", 2020.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/functors/elementwise/unary_grad.h"

namespace phi {
namespace {

struct SwiGLUFunctor {
  template <typename C>
  PHI_HD C operator()(C x, C y) const {
    return SiluFunctor<C>()(x) * y;
  }
};

/// Computes the gradients of one run, except those that are null.
template <typename C>
inline void swiglu_grad_run(const C* x, const C* y, const C* g, C* x_grad, C* y_grad, int64_t n) {
  const SiluFunctor<C> silu;
  const SiluGradFunctor<C> silu_grad;
  if (x_grad) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) x_grad[i] = silu_grad(x[i], g[i] * y[i]);
  }
  if (y_grad) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y_grad[i] = g[i] * silu(x[i]);
  }
}

template <typename T>
inline void swiglu_grad_blocks(const T* x, const T* y, const T* g, T* x_grad, T* y_grad,
                               int64_t n) {
  using C = compute_t<T>;
  C wide[5][kConvertBlock];
  // In blocks, which stay in cache between the two gradients.
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    if constexpr (kIs16Bit<T>) {
      convert(x + i, wide[0], count);
      convert(y + i, wide[1], count);
      convert(g + i, wide[2], count);
      swiglu_grad_run<C>(wide[0], wide[1], wide[2], x_grad ? wide[3] : nullptr,
                         y_grad ? wide[4] : nullptr, count);
      if (x_grad) convert(wide[3], x_grad + i, count);
      if (y_grad) convert(wide[4], y_grad + i, count);
    } else {
      swiglu_grad_run(x + i, y + i, g + i, x_grad ? x_grad + i : nullptr,
                      y_grad ? y_grad + i : nullptr, count);
    }
  }
}

template <typename T>
void swiglu_grad_row(const T* x, const T* y, const T* g, T* x_grad, T* y_grad, int64_t n) {
  run_best_isa<compute_t<T>>([=] { swiglu_grad_blocks(x, y, g, x_grad, y_grad, n); });
}

}  // namespace

/// out = x * sigmoid(x) * y. Without y, the halves of x's last tensor dim are x and y.
template <typename T, typename Context>
void SwiGLUKernel(const Context&, const DenseTensor& x, const DenseTensor* y, DenseTensor* out) {
  if (out->numel() == 0) return;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (y) return binary_loop(from, y->data<T>(), to, out->numel(), SwiGLUFunctor());
  const int64_t half = out->dims().back();
  const int64_t rows = out->numel() / half;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = from + r * 2 * half;
    binary_loop(row, row + half, to + r * half, half, SwiGLUFunctor());
  }
}

/// With s = sigmoid(x): x_grad = out_grad y s (1 + x (1 - s)) and y_grad = out_grad x s. Without y,
/// x_grad has both halves. A null gradient is not computed.
template <typename T, typename Context>
void SwiGLUGradKernel(const Context&, const DenseTensor& x, const DenseTensor* y,
                      const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) {
  const int64_t n = out_grad.numel();
  if (n == 0) return;
  const T* xs = x.data<T>();
  const T* gs = out_grad.data<T>();
  T* dx = x_grad ? x_grad->mutable_data<T>() : nullptr;
  if (y) {
    T* dy = y_grad ? y_grad->mutable_data<T>() : nullptr;
    return swiglu_grad_row(xs, y->data<T>(), gs, dx, dy, n);
  }
  if (!dx) return;
  const int64_t half = out_grad.dims().back();
  for (int64_t r = 0; r < n / half; ++r) {
    const T* row = xs + r * 2 * half;
    T* to = dx + r * 2 * half;
    swiglu_grad_row(row, row + half, gs + r * half, to, to + half, half);
  }
}

PHI_REGISTER_KERNEL(swiglu_grad, CPU, SwiGLUGradKernel, Floats);
PHI_REGISTER_KERNEL(swiglu, CPU, SwiGLUKernel, Floats);

}  // namespace phi
