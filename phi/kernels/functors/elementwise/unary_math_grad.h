// Gradients of the functions of unary_math.h. Each returns the gradient of x for the gradient `g`
// of the result, and is a function of x or of the result `out`, whichever is more accurate. T is
// float or double, or a complex type if the function has one.
#pragma once

#include <cmath>
#include <numbers>

#include "phi/common/dtype.h"
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/functors/fast/complex_math.h"

namespace phi {
namespace detail {

template <typename T>
PHI_HD T square_root(T x) {
  if constexpr (kIsComplex<T>) {
    return fast::sqrt(x);
  } else {
    return std::sqrt(x);
  }
}

}  // namespace detail

/// 0 at 0.
template <typename T>
struct AbsGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * SignFunctor<T>()(x); }
};

template <typename T>
struct AcosGradFunctor {
  PHI_HD T operator()(T x, T g) const { return -g / detail::square_root((T(1) - x) * (T(1) + x)); }
};

/// NaN for x < 1, like the function.
template <typename T>
struct AcoshGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    return g / (detail::square_root(x - T(1)) * detail::square_root(x + T(1)));
  }
};

template <typename T>
struct AsinGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / detail::square_root((T(1) - x) * (T(1) + x)); }
};

template <typename T>
struct AsinhGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / detail::square_root(x * x + T(1)); }
};

template <typename T>
struct AtanGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / (x * x + T(1)); }
};

template <typename T>
struct AtanhGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / ((T(1) - x) * (T(1) + x)); }
};

template <typename T>
struct CoshGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::sinh(x); }
};

template <typename T>
struct SinhGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::cosh(x); }
};

template <typename T>
struct TanGradFunctor {
  PHI_HD T operator()(T out, T g) const { return g * (out * out + T(1)); }
};

template <typename T>
struct DigammaGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::trigamma(x); }
};

template <typename T>
struct LgammaGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * static_cast<T>(fast::digamma(x)); }
};

template <typename T>
struct PolygammaGradFunctor {
  int n;
  PHI_HD T operator()(T x, T g) const { return g * fast::polygamma(n + 1, x); }
};

template <typename T>
struct ErfGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    return g * T(2) * std::numbers::inv_sqrtpi_v<T> * fast::exp(-x * x);
  }
};

template <typename T>
struct ErfinvGradFunctor {
  PHI_HD T operator()(T out, T g) const {
    return g * (T(0.5) / std::numbers::inv_sqrtpi_v<T>)*fast::exp(out * out);
  }
};

template <typename T>
struct Expm1GradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::exp(x); }
};

template <typename T>
struct Log10GradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / (x * T(std::numbers::ln10)); }
};

template <typename T>
struct Log1pGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / (T(1) + x); }
};

template <typename T>
struct Log2GradFunctor {
  PHI_HD T operator()(T x, T g) const { return g / (x * T(std::numbers::ln2)); }
};

/// 0 where x is clamped. If eps is 0, NaN outside [0, 1].
template <typename T>
struct LogitGradFunctor {
  T eps;
  PHI_HD T operator()(T x, T g) const {
    const bool inside = x >= eps && x <= T(1) - eps;
    const T outside = eps > T(0) ? T(0) : std::numeric_limits<T>::quiet_NaN();
    return inside ? g / (x * (T(1) - x)) : outside;
  }
};

template <typename T>
struct ReciprocalGradFunctor {
  PHI_HD T operator()(T out, T g) const { return -g * out * out; }
};

/// g at the bounds; 0 for NaN.
template <typename T>
struct ClipGradFunctor {
  T min;
  T max;
  PHI_HD T operator()(T x, T g) const { return x >= min && x <= max ? g : T(0); }
};

/// 0 at the bounds.
template <typename T>
struct HardTanhGradFunctor {
  T min;
  T max;
  PHI_HD T operator()(T x, T g) const { return x > min && x < max ? g : T(0); }
};

template <typename T>
struct I0GradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::bessel_i1(x); }
};

template <typename T>
struct I0eGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const double wide = x;
    const double slope =
        fast::bessel_i1e(wide) - SignFunctor<double>()(wide) * fast::bessel_i0e(wide);
    return g * static_cast<T>(slope);
  }
};

/// I0(x) - I1(x) / x, which is 1/2 at x = 0.
template <typename T>
struct I1GradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const double wide = x;
    const double slope = fast::bessel_i0(wide) - fast::bessel_i1(wide) / wide;
    return g * (x == T(0) ? T(0.5) : static_cast<T>(slope));
  }
};

template <typename T>
struct I1eGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const double wide = x;
    const double slope = fast::bessel_i0e(wide) -
                         fast::bessel_i1e(wide) * (SignFunctor<double>()(wide) + 1.0 / wide);
    return g * (x == T(0) ? T(0.5) : static_cast<T>(slope));
  }
};

}  // namespace phi
