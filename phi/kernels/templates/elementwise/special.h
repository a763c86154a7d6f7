// Error, gamma and Bessel functions of one input with their gradients: kernels and instantiations.
#pragma once

#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/functors/elementwise/unary_math_grad.h"
#include "phi/kernels/templates/converted.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {

/// n = 0 and n = 1 use vectorisable functions. The result of integers is float32.
template <typename T, typename Context>
void PolygammaKernel(const Context& ctx, const DenseTensor& x, int n, DenseTensor* out) {
  using C = compute_t<floating_t<T>>;
  if (n == 0) return detail::map_unary<C, T>(ctx, x, out, DigammaFunctor<C>());
  if (n == 1) return detail::map_unary<C, T>(ctx, x, out, TrigammaFunctor<C>());
  detail::map_unary<C, T>(ctx, x, out, PolygammaFunctor<C>{n});
}

PHI_FLOAT_UNARY_KERNEL(digamma, DigammaFunctor);
PHI_FLOAT_UNARY_KERNEL(erfinv, ErfinvFunctor);
PHI_FLOAT_UNARY_KERNEL(i0, I0Functor);
PHI_FLOAT_UNARY_KERNEL(i0e, I0eFunctor);
PHI_FLOAT_UNARY_KERNEL(i1, I1Functor);
PHI_FLOAT_UNARY_KERNEL(i1e, I1eFunctor);
PHI_FLOAT_UNARY_KERNEL(lgamma, LgammaFunctor);
PHI_REGISTER_KERNEL(polygamma, PHI_DEVICE, PolygammaKernel, RealNumbers);

PHI_UNARY_GRAD_KERNEL(digamma_grad, DigammaGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(erfinv_grad, ErfinvGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(i0_grad, I0GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(i0e_grad, I0eGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(i1_grad, I1GradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(i1e_grad, I1eGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(lgamma_grad, LgammaGradFunctor, Floats);
PHI_UNARY_GRAD_KERNEL(polygamma_grad, PolygammaGradFunctor, Floats, int);

}  // namespace phi
