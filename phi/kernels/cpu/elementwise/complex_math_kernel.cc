// Elementary functions of complex numbers on the CPU, in a table: op, what it does to x. The
// standard library's are used, one element at a time.
#include <complex>

#include "phi/generated/kernels/unary.h"
#include "phi/generated/kernels/unary_math.h"
#include "phi/kernels/cpu/words.h"
#include "phi/kernels/tables/elementwise/unary_rows.h"

namespace phi {
namespace {

template <typename C>
C sigmoid_of(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

template <typename C>
struct SiluGradOfComplex {
  C operator()(C x, C g) const {
    const C s = sigmoid_of(x);
    return g * s * (C(1) + x * (C(1) - s));
  }
};

/// Whether a part fails; none of it: both are finite.
template <typename C>
bool is_finite(C x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}
template <typename C>
bool is_infinite(C x) {
  return std::isinf(x.real()) || std::isinf(x.imag());
}
template <typename C>
bool is_nan(C x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

}  // namespace

#define PHI_COMPLEX_KERNEL(name, expression)          \
  template <typename C>                               \
  struct name##_of_complex {                          \
    auto operator()(C x) const { return expression; } \
  };                                                  \
  PHI_UNARY_KERNEL(name, name##_of_complex, Complexes)

PHI_COMPLEX_KERNEL(acos, std::acos(x));
PHI_COMPLEX_KERNEL(acosh, std::acosh(x));
PHI_COMPLEX_KERNEL(asin, std::asin(x));
PHI_COMPLEX_KERNEL(asinh, std::asinh(x));
PHI_COMPLEX_KERNEL(atan, std::atan(x));
PHI_COMPLEX_KERNEL(atanh, std::atanh(x));
PHI_COMPLEX_KERNEL(cos, std::cos(x));
PHI_COMPLEX_KERNEL(cosh, std::cosh(x));
PHI_COMPLEX_KERNEL(exp, std::exp(x));
PHI_COMPLEX_KERNEL(expm1, std::exp(x) - C(1));
PHI_COMPLEX_KERNEL(log, std::log(x));
PHI_COMPLEX_KERNEL(log10, std::log10(x));
PHI_COMPLEX_KERNEL(log1p, std::log(C(1) + x));
PHI_COMPLEX_KERNEL(log2, std::log(x) / std::log(typename C::value_type(2)));
PHI_COMPLEX_KERNEL(reciprocal, C(1) / x);
PHI_COMPLEX_KERNEL(rsqrt, C(1) / std::sqrt(x));
PHI_COMPLEX_KERNEL(sigmoid, sigmoid_of(x));
PHI_COMPLEX_KERNEL(silu, x* sigmoid_of(x));
PHI_UNARY_GRAD_KERNEL(silu_grad, SiluGradOfComplex, Complexes);
PHI_COMPLEX_KERNEL(sin, std::sin(x));
PHI_COMPLEX_KERNEL(sinh, std::sinh(x));
PHI_COMPLEX_KERNEL(sqrt, std::sqrt(x));
PHI_COMPLEX_KERNEL(square, x* x);
PHI_COMPLEX_KERNEL(tan, std::tan(x));
PHI_COMPLEX_KERNEL(tanh, std::tanh(x));
PHI_COMPLEX_KERNEL(isfinite, is_finite(x));
PHI_COMPLEX_KERNEL(isinf, is_infinite(x));
PHI_COMPLEX_KERNEL(isnan, is_nan(x));
PHI_COMPLEX_KERNEL(logical_not, x == C(0));

}  // namespace phi
