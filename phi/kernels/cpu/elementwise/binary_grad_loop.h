// Gradients of elementwise kernels of two inputs: computed where the output is, then added up over
// the tensor dims along which an input was broadcast.
#pragma once

#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/elementwise/nary_loop.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {

/// The sum of x over the tensor dims that broadcast out's dims to x's.
template <typename T, typename Out>
void sum_to(const T* x, const Dims& x_dims, DenseTensor* out) {
  const int added = x_dims.ndim() - out->ndim();
  AxisSet axes;
  for (int d = 0; d < x_dims.ndim(); ++d) {
    if (d < added || out->dims()[d - added] != x_dims[d]) axes.add(d);
  }
  Out* to = out->mutable_data<Out>();
  reduce_loop<SumReducer<T>>(x, x_dims, axes, [to](int64_t first, const double* sums, int64_t n) {
    convert(sums, to + first, n);
  });
}

/// grad = the sum of f(x, y, out_grad), to grad's dims. A null `grad` is not computed.
template <typename T, typename F>
void broadcast_grad(const KernelContext& ctx, const DenseTensor& x, const DenseTensor& y,
                    const DenseTensor& out_grad, DenseTensor* grad, F f) {
  if (!grad) return;
  const Dims& dims = out_grad.dims();
  if (grad->dims() == dims) return nary_loop<T>({&x, &y, &out_grad}, grad, f);
  using C = compute_t<T>;
  DenseTensor terms = DenseTensor::empty({dims, dtype_of<C>()}, ctx.place());
  nary_loop<T>(std::array{&x, &y, &out_grad}, terms.mutable_data<C>(), dims, f);
  sum_to<C, T>(terms.data<C>(), dims, grad);
}

/// Both gradients, by the functions `dx` and `dy` of a functor.
template <typename T, typename Functor>
void binary_grad(const KernelContext& ctx, const DenseTensor& x, const DenseTensor& y,
                 const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad,
                 Functor functor) {
  using C = compute_t<T>;
  broadcast_grad<T>(ctx, x, y, out_grad, x_grad,
                    [functor](C a, C b, C g) { return functor.dx(a, b, g); });
  broadcast_grad<T>(ctx, x, y, out_grad, y_grad,
                    [functor](C a, C b, C g) { return functor.dy(a, b, g); });
}

}  // namespace phi
