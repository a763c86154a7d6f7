// swiglu (a gated linear unit with SiLU as gate) and its gradient, on GPUs.
#include "phi/generated/kernels/elementwise.h"
#include "phi/gpu/divider.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/functors/elementwise/unary_grad.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Inputs x and y: separate arrays, or the two halves of rows of 2 * `half` elements.
template <typename T>
struct GatedInput {
  const T* x;
  const T* y;  // null: after x in its row
  gpu::Divider half;

  PHI_HD int64_t place(int64_t i) const { return y ? i : i + half.quotient(i) * half.by(); }
  PHI_HD compute_t<T> gate(int64_t i) const { return static_cast<compute_t<T>>(x[place(i)]); }
  PHI_HD compute_t<T> value(int64_t i) const {
    return static_cast<compute_t<T>>(y ? y[i] : x[place(i) + half.by()]);
  }
};

template <typename T>
struct SwiGLUElement {
  GatedInput<T> in;
  PHI_HD T operator()(int64_t i) const {
    return static_cast<T>(SiluFunctor<compute_t<T>>()(in.gate(i)) * in.value(i));
  }
};

template <typename T>
struct GateGradient {
  using C = compute_t<T>;
  GatedInput<T> in;
  const T* out_grad;
  PHI_HD T operator()(int64_t i) const {
    const C g = static_cast<C>(out_grad[i]);
    return static_cast<T>(SiluGradFunctor<C>()(in.gate(i), g * in.value(i)));
  }
};

template <typename T>
struct ValueGradient {
  using C = compute_t<T>;
  GatedInput<T> in;
  const T* out_grad;
  PHI_HD T operator()(int64_t i) const {
    return static_cast<T>(static_cast<C>(out_grad[i]) * SiluFunctor<C>()(in.gate(i)));
  }
};

/// Gradient of element i of rows that contain both halves.
template <typename T>
struct HalvesGradient {
  GatedInput<T> in;
  const T* out_grad;
  PHI_HD T operator()(int64_t i) const {
    const int64_t half = in.half.by();
    const int64_t row = in.half.quotient(i) / 2;
    const int64_t column = i - row * 2 * half;
    const int64_t own = row * half;
    return column < half ? GateGradient<T>{in, out_grad}(own + column)
                         : ValueGradient<T>{in, out_grad}(own + column - half);
  }
};

template <typename T>
GatedInput<T> gated(const DenseTensor& x, const DenseTensor* y, const DenseTensor& out) {
  return {x.data<T>(), y ? y->data<T>() : nullptr,
          gpu::Divider(out.dims().ndim() > 0 ? out.dims().back() : 1)};
}

}  // namespace

/// out = x * sigmoid(x) * y. Without y, x's last tensor dim contains [x, y].
template <typename T, typename Context>
void SwiGLUKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* y,
                  DenseTensor* out) {
  index_loop(ctx, out->mutable_data<T>(), out->numel(), SwiGLUElement<T>{gated<T>(x, y, *out)});
}

/// Without y, x_grad contains both halves. A null gradient is not computed.
template <typename T, typename Context>
void SwiGLUGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* y,
                      const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) {
  const int64_t n = out_grad.numel();
  if (n == 0) return;
  const GatedInput<T> in = gated<T>(x, y, out_grad);
  const T* g = out_grad.data<T>();
  if (x_grad && !y) {
    return index_loop(ctx, x_grad->mutable_data<T>(), 2 * n, HalvesGradient<T>{in, g});
  }
  if (x_grad) index_loop(ctx, x_grad->mutable_data<T>(), n, GateGradient<T>{in, g});
  if (y && y_grad) index_loop(ctx, y_grad->mutable_data<T>(), n, ValueGradient<T>{in, g});
}

PHI_REGISTER_KERNEL(swiglu_grad, GPU, SwiGLUGradKernel, Floats);
PHI_REGISTER_KERNEL(swiglu, GPU, SwiGLUKernel, Floats);

}  // namespace phi
