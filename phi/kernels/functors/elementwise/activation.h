// Activation functions of one value other than those of unary.h. T is float or double. NaN gives
// NaN.
#pragma once

#include <cmath>

#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/functors/fast/complex_math.h"
#include "phi/kernels/functors/fast/hyperbolic.h"
#include "phi/kernels/functors/fast/math.h"

namespace phi {

/// J. Barron, "Continuously Differentiable Exponential Linear Units", 2017.
template <typename T>
struct CeluFunctor {
  T alpha;
  PHI_HD T operator()(T x) const { return x > T(0) ? x : alpha * fast::expm1(x / alpha); }
};

template <typename T>
struct EluFunctor {
  T alpha;
  PHI_HD T operator()(T x) const { return x < T(0) ? alpha * fast::expm1_below(x) : x; }
};

template <typename T>
struct SeluFunctor {
  T scale;
  T alpha;
  PHI_HD T operator()(T x) const { return scale * (x < T(0) ? alpha * fast::expm1_below(x) : x); }
};

/// 0 for |x| <= threshold.
template <typename T>
struct HardshrinkFunctor {
  T threshold;
  PHI_HD T operator()(T x) const { return x >= -threshold && x <= threshold ? T(0) : x; }
};

/// 0 for |x| <= threshold; otherwise x moved towards 0 by threshold.
template <typename T>
struct SoftshrinkFunctor {
  T threshold;
  PHI_HD T operator()(T x) const {
    const T beyond = x > threshold ? x - threshold : x + threshold;
    return x >= -threshold && x <= threshold ? T(0) : beyond;
  }
};

template <typename T>
struct TanhShrinkFunctor {
  PHI_HD T operator()(T x) const { return x - fast::tanh(x); }
};

template <typename T>
struct HardsigmoidFunctor {
  T slope;
  T offset;
  PHI_HD T operator()(T x) const { return ClipFunctor<T>{0, 1}(slope * x + offset); }
};

/// A. Howard et al., "Searching for MobileNetV3", 2019.
template <typename T>
struct HardswishFunctor {
  PHI_HD T operator()(T x) const { return x * ClipFunctor<T>{0, 6}(x + T(3)) / T(6); }
};

template <typename T>
struct Relu6Functor {
  PHI_HD T operator()(T x) const { return ClipFunctor<T>{0, 6}(x); }
};

template <typename T>
struct LeakyReluFunctor {
  T negative_slope;
  PHI_HD T operator()(T x) const { return x > T(0) ? x : negative_slope * x; }
};

template <typename T>
struct ThresholdedReluFunctor {
  T threshold;
  T value;
  PHI_HD T operator()(T x) const { return x <= threshold ? value : x; }
};

/// log(1 / (1 + exp(-x))).
template <typename T>
struct LogsigmoidFunctor {
  PHI_HD T operator()(T x) const {
    return (x < T(0) ? x : T(0)) - fast::log1p_of_fraction(fast::exp_of_negative(-std::fabs(x)));
  }
};

/// log(1 + exp(beta x)) / beta; x if beta x is above the threshold.
template <typename T>
struct SoftplusFunctor {
  T beta;
  T threshold;
  PHI_HD T operator()(T x) const {
    const T z = beta * x;
    const T soft =
        (z > T(0) ? z : T(0)) + fast::log1p_of_fraction(fast::exp_of_negative(-std::fabs(z)));
    return z > threshold ? x : soft / beta;
  }
};

namespace detail {
/// tanh(log(1 + exp(x))) = n / (n + 2) for n = e^2 + 2 e and e = exp(x); tanh(x) above `threshold`.
/// It is 1 for x >= 40.
template <typename T>
PHI_HD T tanh_softplus(T x, T threshold) {
  const T e = fast::exp(x > T(40) ? T(40) : x);
  const T n = e * (e + T(2));
  return x > threshold ? fast::tanh(x) : n / (n + T(2));
}
}  // namespace detail

/// D. Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.
template <typename T>
struct MishFunctor {
  T threshold;
  PHI_HD T operator()(T x) const { return x * detail::tanh_softplus(x, threshold); }
};

template <typename T>
struct SoftsignFunctor {
  PHI_HD T operator()(T x) const { return x / (T(1) + std::fabs(x)); }
};

template <typename T>
struct StanhFunctor {
  T scale_a;
  T scale_b;
  PHI_HD T operator()(T x) const { return scale_b * fast::tanh(scale_a * x); }
};

}  // namespace phi
