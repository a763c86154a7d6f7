// Gradients of the elementwise functions of unary.h. Each returns the gradient of x for the
// gradient `g` of the result, and is a function of x or of the result `out`, whichever is cheaper
// to keep. T is float or double.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/normal.h"
#include "phi/kernels/functors/fast/power.h"

namespace phi {

namespace detail {
/// x clamped to [-limit, limit], beyond which the functions below are constant. Without it an
/// infinite x gives 0 * inf. NaN gives NaN.
template <typename T>
PHI_HD T within(T x, T limit) {
  const T above = x < -limit ? -limit : x;
  return above > limit ? limit : above;
}
}  // namespace detail

template <typename T>
struct SqrtGradFunctor {
  PHI_HD T operator()(T out, T g) const { return g * T(0.5) / out; }
};

template <typename T>
struct RsqrtGradFunctor {
  PHI_HD T operator()(T out, T g) const { return T(-0.5) * g * out * out * out; }
};

template <typename T>
struct SquareGradFunctor {
  PHI_HD T operator()(T x, T g) const { return T(2) * x * g; }
};

template <typename T>
struct TanhGradFunctor {
  PHI_HD T operator()(T out, T g) const { return g * (T(1) - out * out); }
};

template <typename T>
struct SigmoidGradFunctor {
  PHI_HD T operator()(T out, T g) const { return g * out * (T(1) - out); }
};

/// 0 at 0.
template <typename T>
struct ReluGradFunctor {
  PHI_HD T operator()(T out, T g) const { return out > T(0) ? g : T(0); }
};

/// Phi(x) + x Phi'(x).
template <typename T>
struct GeluGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    x = detail::within(x, T(40));
    const auto normal = fast::normal(x);
    return g * (normal.cdf + x * normal.pdf);
  }
};

/// s + x s (1 - s) c (1 + 3 a x^2), where out = x s(u), s is the sigmoid and u = c (x + a x^3).
template <typename T>
struct GeluTanhGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    constexpr T kTwoSqrt2OverPi = T(1.5957691216057307118);
    constexpr T kCubic = T(0.044715);
    x = detail::within(x, T(20));
    const T square = x * x;
    const T s = fast::sigmoid(kTwoSqrt2OverPi * (x + kCubic * x * square));
    const T slope = kTwoSqrt2OverPi * (T(1) + T(3) * kCubic * square);
    return g * (s + x * s * (T(1) - s) * slope);
  }
};

/// s (1 + x (1 - s)), where s is the sigmoid of x.
template <typename T>
struct SiluGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    x = detail::within(x, T(1000));
    const T s = fast::sigmoid(x);
    return g * s * (T(1) + x * (T(1) - s));
  }
};

template <typename T>
struct CubeGradFunctor {
  PHI_HD T operator()(T x, T g) const { return T(3) * x * x * g; }
};

/// pow(x, -1/2) / 2, which is 0 at -inf.
template <typename T>
struct PowHalfGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    constexpr T kInf = std::numeric_limits<T>::infinity();
    return x == -kInf ? T(0) * g : T(0.5) * g / std::sqrt(x + T(0));
  }
};

template <typename T>
struct PowGradFunctor {
  double exponent;
  PHI_HD T operator()(T x, T g) const { return fast::scaled_pow(g * exponent, x, exponent - 1.0); }
};

}  // namespace phi
