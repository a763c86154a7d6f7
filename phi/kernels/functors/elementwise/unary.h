// Elementwise functions of one value. T is float or double, except for Relu, Square and Scale.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/normal.h"
#include "phi/kernels/functors/fast/power.h"

namespace phi {

template <typename T>
struct ExpFunctor {
  PHI_HD T operator()(T x) const { return fast::exp(x); }
};

template <typename T>
struct LogFunctor {
  PHI_HD T operator()(T x) const { return fast::log(x); }
};

template <typename T>
struct SqrtFunctor {
  PHI_HD T operator()(T x) const { return std::sqrt(x); }
};

template <typename T>
struct RsqrtFunctor {
  PHI_HD T operator()(T x) const { return T(1) / std::sqrt(x); }
};

template <typename T>
struct SquareFunctor {
  PHI_HD T operator()(T x) const { return MultiplyFunctor<T>()(x, x); }
};

template <typename T>
struct TanhFunctor {
  PHI_HD T operator()(T x) const { return fast::tanh(x); }
};

template <typename T>
struct SigmoidFunctor {
  PHI_HD T operator()(T x) const { return fast::sigmoid(x); }
};

/// NaN gives NaN.
template <typename T>
struct ReluFunctor {
  PHI_HD T operator()(T x) const { return x < T(0) ? T(0) : x; }
};

/// x Phi(x): Hendrycks and Gimpel, 2016 (arXiv 1606.08415).
template <typename T>
struct GeluFunctor {
  PHI_HD T operator()(T x) const { return fast::gelu(x); }
};

/// The tanh approximation of GELU from the same paper.
template <typename T>
struct GeluTanhFunctor {
  PHI_HD T operator()(T x) const { return x * fast::sigmoid(fast::gelu_tanh_exponent(x)); }
};

template <typename T>
struct SiluFunctor {
  PHI_HD T operator()(T x) const { return x * fast::sigmoid(x); }
};

template <typename T>
struct CubeFunctor {
  PHI_HD T operator()(T x) const { return x * x * x; }
};

/// pow(x, 1/2). Unlike sqrt it is +0 at -0 and inf at -inf.
template <typename T>
struct PowHalfFunctor {
  PHI_HD T operator()(T x) const {
    constexpr T kInf = std::numeric_limits<T>::infinity();
    return x == -kInf ? kInf : std::sqrt(x + T(0));
  }
};

template <typename T>
struct PowFunctor {
  T exponent;
  PHI_HD T operator()(T x) const { return fast::pow(x, exponent); }
};

/// x scale + bias, or (x + bias) scale.
template <typename T, bool kBiasAfterScale>
struct ScaleFunctor {
  T scale;
  T bias;
  PHI_HD T operator()(T x) const {
    const MultiplyFunctor<T> multiply;
    const AddFunctor<T> add;
    return kBiasAfterScale ? add(multiply(x, scale), bias) : multiply(add(x, bias), scale);
  }
};

}  // namespace phi
