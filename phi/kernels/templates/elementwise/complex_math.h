// Instantiations of elementary functions for complex dtypes: op, function.
#pragma once

#include <cmath>
#include <complex>

#include "phi/generated/kernels/activation.h"
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/complex.h"
#include "phi/generated/kernels/unary.h"
#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/functors/elementwise/activation.h"
#include "phi/kernels/functors/elementwise/activation_grad.h"
#include "phi/kernels/functors/fast/complex_math.h"
#include "phi/kernels/templates/elementwise/broadcast_gradients.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {
namespace detail {

template <typename C>
PHI_HD C complex_sigmoid(C x) {
  return C(1) / (C(1) + fast::exp(-x));
}

template <typename C>
struct PowOfComplex {
  C y;
  PHI_HD C operator()(C x) const { return fast::pow(x, y); }
};

template <typename C>
struct PowGradOfComplex {
  C y;
  PHI_HD C operator()(C x, C g) const { return g * y * fast::pow(x, y - C(1)); }
};

template <typename C>
struct ElementwisePowOfComplex {
  PHI_HD C operator()(C x, C y) const { return fast::pow(x, y); }
};

/// x^0 does not depend on x, and 0^y does not depend on a y whose real part is not negative.
template <typename C>
struct ElementwisePowGradOfComplex {
  PHI_HD C dx(C x, C y, C g) const { return y == C(0) ? C(0) : g * y * fast::pow(x, y - C(1)); }
  PHI_HD C dy(C x, C y, C g) const {
    if (x == C(0) && y.real() >= 0) return C(0);
    return g * fast::log(x) * fast::pow(x, y);
  }
};

template <typename C>
struct SoftplusOfComplex {
  C beta;
  C threshold;
  PHI_HD C operator()(C x) const {
    const C z = beta * x;
    return z.real() > threshold.real() ? x : fast::log(C(1) + fast::exp(z)) / beta;
  }
};

template <typename C>
struct SoftplusGradOfComplex {
  C beta;
  C threshold;
  PHI_HD C operator()(C x, C g) const {
    const C z = beta * x;
    return z.real() > threshold.real() ? g : g * complex_sigmoid(z);
  }
};

template <typename C>
struct LogSigmoidGradOfComplex {
  PHI_HD C operator()(C x, C g) const { return g / (C(1) + fast::exp(x)); }
};

template <typename C>
struct SiluGradOfComplex {
  PHI_HD C operator()(C x, C g) const {
    const C s = complex_sigmoid(x);
    return g * s * (C(1) + x * (C(1) - s));
  }
};

/// Whether both parts are finite.
template <typename C>
PHI_HD bool is_finite(C x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}
template <typename C>
PHI_HD bool is_infinite(C x) {
  return std::isinf(x.real()) || std::isinf(x.imag());
}
template <typename C>
PHI_HD bool is_nan(C x) {
  return x.real() != x.real() || x.imag() != x.imag();
}

}  // namespace detail

template <typename C, typename Context>
void ElementwisePowOfComplexKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                                   DenseTensor* out) {
  binary_loop(ctx, x.data<C>(), x.dims(), y.data<C>(), y.dims(), out->mutable_data<C>(),
              out->dims(), detail::ElementwisePowOfComplex<C>());
}

template <typename C, typename Context>
void ElementwisePowGradOfComplexKernel(const Context& ctx, const DenseTensor& x,
                                       const DenseTensor& y, const DenseTensor& out_grad,
                                       DenseTensor* x_grad, DenseTensor* y_grad) {
  binary_grad<C>(ctx, x, y, out_grad, x_grad, y_grad, detail::ElementwisePowGradOfComplex<C>());
}

#define PHI_COMPLEX_KERNEL(name, expression)                 \
  template <typename C>                                      \
  struct name##_of_complex {                                 \
    PHI_HD auto operator()(C x) const { return expression; } \
  };                                                         \
  PHI_UNARY_KERNEL(name, name##_of_complex, Complexes)

PHI_COMPLEX_KERNEL(abs, std::hypot(x.real(), x.imag()));
PHI_COMPLEX_KERNEL(angle, std::atan2(x.imag(), x.real()));
PHI_COMPLEX_KERNEL(acos, fast::acos(x));
PHI_COMPLEX_KERNEL(acosh, fast::acosh(x));
PHI_COMPLEX_KERNEL(asin, fast::asin(x));
PHI_COMPLEX_KERNEL(asinh, fast::asinh(x));
PHI_COMPLEX_KERNEL(atan, fast::atan(x));
PHI_COMPLEX_KERNEL(atanh, fast::atanh(x));
PHI_COMPLEX_KERNEL(cos, fast::cos(x));
PHI_COMPLEX_KERNEL(cosh, fast::cosh(x));
PHI_COMPLEX_KERNEL(exp, fast::exp(x));
PHI_COMPLEX_KERNEL(expm1, fast::exp(x) - C(1));
PHI_COMPLEX_KERNEL(log, fast::log(x));
PHI_COMPLEX_KERNEL(log10, fast::log(x) / std::log(typename C::value_type(10)));
PHI_COMPLEX_KERNEL(log1p, fast::log(C(1) + x));
PHI_COMPLEX_KERNEL(logsigmoid, -fast::log(C(1) + fast::exp(-x)));
PHI_COMPLEX_KERNEL(log2, fast::log(x) / std::log(typename C::value_type(2)));
PHI_COMPLEX_KERNEL(reciprocal, C(1) / x);
PHI_COMPLEX_KERNEL(rsqrt, C(1) / fast::sqrt(x));
PHI_COMPLEX_KERNEL(sigmoid, detail::complex_sigmoid(x));
PHI_COMPLEX_KERNEL(silu, x* detail::complex_sigmoid(x));
PHI_COMPLEX_KERNEL(sin, fast::sin(x));
PHI_COMPLEX_KERNEL(sinh, fast::sinh(x));
PHI_COMPLEX_KERNEL(sqrt, fast::sqrt(x));
PHI_COMPLEX_KERNEL(square, x* x);
PHI_COMPLEX_KERNEL(tan, fast::tan(x));
PHI_COMPLEX_KERNEL(tanh, fast::tanh(x));
PHI_COMPLEX_KERNEL(isfinite, detail::is_finite(x));
PHI_COMPLEX_KERNEL(isinf, detail::is_infinite(x));
PHI_COMPLEX_KERNEL(isnan, detail::is_nan(x));
PHI_COMPLEX_KERNEL(logical_not, x == C(0));
PHI_REGISTER_KERNEL(elementwise_pow, PHI_DEVICE, ElementwisePowOfComplexKernel, Complexes);
PHI_REGISTER_KERNEL(elementwise_pow_grad, PHI_DEVICE, ElementwisePowGradOfComplexKernel, Complexes);
PHI_UNARY_KERNEL(pow, detail::PowOfComplex, Complexes, const Scalar&);
PHI_UNARY_KERNEL(softplus, detail::SoftplusOfComplex, Complexes, double, double);
PHI_UNARY_KERNEL(stanh, StanhFunctor, Complexes, float, float);
PHI_UNARY_GRAD_KERNEL(logsigmoid_grad, detail::LogSigmoidGradOfComplex, Complexes);
PHI_UNARY_GRAD_KERNEL(pow_grad, detail::PowGradOfComplex, Complexes, const Scalar&);
PHI_UNARY_GRAD_KERNEL(silu_grad, detail::SiluGradOfComplex, Complexes);
PHI_UNARY_GRAD_KERNEL(softplus_grad, detail::SoftplusGradOfComplex, Complexes, double, double);
PHI_UNARY_GRAD_KERNEL(stanh_grad, StanhGradFunctor, Complexes, float, float);

}  // namespace phi
