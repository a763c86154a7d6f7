// Gradients of elementwise kernels of two inputs: computed with the output's dims, then summed over
// the tensor dims along which an input was broadcast.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/scratch_array.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/real_type.h"
#include "phi/kernels/templates/sum_over.h"

namespace phi {

namespace detail {

/// The function `dx` of a functor of two gradients. Complex arguments are conjugated, which gives
/// the conjugate derivative because the functions here are real for real arguments.
template <typename F>
struct FirstGradient {
  F f;
  template <typename C>
  PHI_HD C operator()(C x, C y, C out_grad) const {
    return f.dx(conjugate(x), conjugate(y), out_grad);
  }
};
/// The same for `dy`.
template <typename F>
struct SecondGradient {
  F f;
  template <typename C>
  PHI_HD C operator()(C x, C y, C out_grad) const {
    return f.dy(conjugate(x), conjugate(y), out_grad);
  }
};

}  // namespace detail

/// Sums x over the tensor dims along which out's dims are broadcast to x's.
template <typename T, typename Out, typename Context>
void sum_to(const Context& ctx, const T* x, const Dims& x_dims, DenseTensor* out) {
  const int added = x_dims.ndim() - out->ndim();
  AxisSet axes;
  for (int d = 0; d < x_dims.ndim(); ++d) {
    if (d < added || out->dims()[d - added] != x_dims[d]) axes.add(d);
  }
  sum_over(ctx, x, x_dims, axes, out->mutable_data<Out>());
}

/// grad = f(x, y, out_grad), summed to grad's dims. A null `grad` is not computed.
template <typename T, typename Context, typename F>
void broadcast_grad(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                    const DenseTensor& out_grad, DenseTensor* grad, F f) {
  if (!grad) return;
  const Dims& dims = out_grad.dims();
  if (grad->dims() == dims) return nary_loop<T>(ctx, {&x, &y, &out_grad}, grad, f);
  using C = compute_t<T>;
  DenseTensor terms = scratch_array({dims, dtype_of<C>()}, ctx.place());
  broadcast_loop<T>(ctx, std::array{&x, &y, &out_grad}, terms.mutable_data<C>(), dims, f);
  sum_to<C, T>(ctx, terms.data<C>(), dims, grad);
}

/// Both gradients, from the functions `dx` and `dy` of a functor. A null one is not computed.
template <typename T, typename Context, typename Functor>
void binary_grad(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                 const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad,
                 Functor functor) {
  broadcast_grad<T>(ctx, x, y, out_grad, x_grad, detail::FirstGradient<Functor>{functor});
  broadcast_grad<T>(ctx, x, y, out_grad, y_grad, detail::SecondGradient<Functor>{functor});
}

/// The same for kernels that do not broadcast.
template <typename T, typename Context, typename Functor>
void even_binary_grad(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                      const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad,
                      Functor functor) {
  if (x_grad)
    even_loop<T>(ctx, {&x, &y, &out_grad}, x_grad, detail::FirstGradient<Functor>{functor});
  if (y_grad)
    even_loop<T>(ctx, {&x, &y, &out_grad}, y_grad, detail::SecondGradient<Functor>{functor});
}

}  // namespace phi
